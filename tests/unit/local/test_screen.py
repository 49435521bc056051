"""What the demonstration shows: the live screen, plain lines, the summary and the picture."""

import io

import pytest
from matplotlib import image
from rich.console import Console

from eml.local import picture, screen
from eml.local.scoreboard import Device, Scoreboard
from eml.local.screen import Screen
from tests.unit.local.demo_records import evolution


def test_the_picture_is_a_png(tmp_path, outcome, board):
    path = tmp_path / "picture.png"
    picture.draw(path, outcome, board.changes)
    pixels = image.imread(path, format="png")
    assert pixels.shape[0] > 500
    assert pixels.std() > 0.05


def test_a_picture_without_evolutions_is_one_too(tmp_path, outcome):
    path = tmp_path / "picture.png"
    picture.draw(path, outcome, [])
    assert image.imread(path, format="png").shape[0] > 500


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_live_screen_shows_counts_machines_and_evolutions(board, width):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False)
    terminal = Screen(console)
    with terminal.live() as live:
        terminal.show(board, live)
    shown = written(console)
    for text in (f"{len(board.sent):,}", "machine-1", "v3", "steady", "v1 → v2", "acoustic", "vibration_radial"):
        assert text in shown


def test_a_file_gets_plain_lines_and_each_evolution_once(board):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    terminal = Screen(console)
    with terminal.step("starting"), terminal.live() as live:
        terminal.show(board, live)
        terminal.show(board, live)
        terminal.show(board, live, last=True)
    shown = written(console)
    assert "\x1b" not in shown
    assert "starting ..." in shown
    assert shown.count("machine-1 v1 → v2: - oil_pressure  + acoustic") == 1
    assert shown.count(f"sent {len(board.sent):,}") == 2


def test_a_large_fleet_is_cut_to_what_a_screen_holds(sent):
    board = Scoreboard()
    for number in range(40):
        board.devices[f"machine-{number}"] = Device()
        board.add_evolution(evolution(f"machine-{number}", 1, sent[0].timestamp_ms))
    console = Console(file=io.StringIO(), width=80, highlight=False)
    console.print(screen.fleet(board, 61.0))
    shown = written(console)
    assert len(shown.splitlines()) < 30
    assert "and 28 more" in shown
    assert "1:01" in shown


def test_the_summary_has_a_row_for_each_model_and_fits_80_columns(outcome):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    console.print(screen.summary(outcome))
    shown = written(console)
    for result in outcome:
        assert f" {result.name} " in shown
        assert f"{result.share(3, early=True):.1%}" in shown


def test_the_balance_says_whether_every_record_is_accounted_for(board, sent):
    assert "=" in screen.balance(board).plain
    board.add_dead_letter("truncated")
    assert (
        screen.balance(board).plain
        == f"✗ {len(sent):,} sent ≠ {len(sent):,} predictions + 1 dead letters (1 truncated)"
    )
