"""The charts: colours that everyone can tell apart, names that stay text, and a bound on what is drawn."""

import itertools

import numpy as np
import pytest

from eml.watch import condensing, figures
from eml.watch.views import Accuracy, Mark, Rollout

GROUNDS = {"light": "#ffffff", "dark": "#181c21"}  # `--paper` of assets/style.css
# How colours look to people who lack one sort of cones (Machado, Oliveira, Fernandes 2009), on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(colour):
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def lab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
def test_neighbouring_bands_differ_for_every_sight(sight):
    seen = [lab(SIGHTS[sight] @ linear(colour)) for colour in figures.COLOURS]
    for one, other in itertools.pairwise(seen):
        assert np.linalg.norm(one - other) > 20  # ten times what is just noticeable
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 8


@pytest.mark.parametrize("ground", GROUNDS)
def test_lines_stand_out_on_either_ground(ground):
    for colour in (*figures.COLOURS, figures.SHADE):
        lighter, darker = sorted((luminance(colour), luminance(GROUNDS[ground])), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 2.9, colour


def test_names_from_devices_stay_text():
    name = "<b>x</b><a href='javascript:1'>"
    drawn = figures.rollout(Rollout([1, 2], {name: [1, 2]}))
    assert drawn["data"][0]["name"].startswith("&lt;b&gt;")
    mark = Mark(1, name, name, name, 1)
    drawn = figures.accuracy(Accuracy([1, 2], [1.0, 0.5], [None, None], [30, 30], [mark]))
    assert "<b>" not in str(drawn)
    assert "<a" not in str(drawn)


def test_many_versions_are_one_band_of_older_ones():
    devices = {f"v{number}": [number, 1] for number in range(40)}
    drawn = figures.rollout(Rollout([1, 2], devices))
    assert len(drawn["data"]) == figures.MOST_VERSIONS
    totals = [sum(column) for column in zip(*(band["y"] for band in drawn["data"]), strict=True)]
    assert totals == [sum(range(40)), 40]


def test_a_curve_is_as_smooth_as_its_labels_allow():
    shares = [float(number % 2) for number in range(404)]
    smooth = condensing.smoothed(Accuracy(range(404), shares, [None] * 404, [10] * 404, []))
    assert len(smooth.times_ms) == len(smooth.accuracy) == len(smooth.scored) <= condensing.MOST_POINTS
    assert all(value is not None and 0.35 < value < 0.65 for value in smooth.accuracy)
    assert smooth.times_ms[-1] == 403
    assert sum(smooth.scored) == 4_040
    few = condensing.smoothed(Accuracy([5], [1.0], [0.0], [1], []))
    assert (few.times_ms, few.accuracy, few.cold) == ([5], [1.0], [0.0])
    assert condensing.smoothed(Accuracy([], [], [], [], [])).times_ms == []


def test_marks_that_would_stand_on_each_other_are_one_of_all_their_devices():
    marks = [Mark(number, "evolution" if number % 2 else "drift", "k", "t", 2) for number in range(500)]
    together = condensing.gathered(marks)
    assert len(together) <= 2 * (condensing.MOST_MARKS + 1)
    assert sum(mark.devices for mark in together) == 1_000
    assert {mark.kind for mark in together} == {"evolution", "drift"}
    assert condensing.gathered(marks[:1]) == marks[:1]
    assert condensing.gathered([]) == []


def test_a_chart_says_in_words_what_it_draws():
    assert "3 on v2" in figures.rollout_text(Rollout([1, 2], {"v1": [4, 1], "v2": [0, 3]}))
    curve = Accuracy([1, 2], [0.5, 0.9], [None, None], [9, 9], [Mark(1, "evolution", "k", "evolved", 1)])
    assert "lowest 50.0" in figures.accuracy_text(curve)
    assert "evolved" in figures.accuracy_text(curve)
    assert "first label" in figures.accuracy_text(Accuracy([], [], [], [], []))
