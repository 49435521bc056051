"""The saved file: all that is shown, escaped, and a policy that lets nothing else run."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from dash import dcc, html

from eml.core.errors import EmlError
from eml.watch import addresses
from eml.watch.addresses import Address
from eml.watch.fleet_view import FleetView
from eml.watch.rendering import Rendered
from eml.watch.saving import document, save
from tests.browsing import HOSTILE, made_fleet


@pytest.fixture(scope="module")
def fleet():
    return made_fleet(devices=10, records=2_000)


def test_texts_and_attributes_are_escaped():
    drawn = Rendered().html(html.P([HOSTILE, html.Span(HOSTILE, title='" onclick="x')], className="a"))
    assert "<img" not in drawn
    assert '" onclick' not in drawn
    assert drawn.startswith('<p class="a">&lt;b&gt;')


def test_links_and_buttons_are_left_out_of_a_file_and_kept_on_the_page():
    tree = html.Div([dcc.Link("all", href="/devices"), html.Button("Copy"), dcc.Store(id="x"), dcc.Graph(figure={})])
    assert Rendered().html(tree) == '<div><span>all</span><div class="graph" id="chart-1"></div></div>'
    linked = Rendered(linked=True).html(tree)
    assert '<a href="/devices">all</a><button>Copy</button>' in linked


def test_the_file_has_what_was_open_first_and_each_screen_once(fleet):
    text = document(fleet, Address(addresses.DEVICE, key=HOSTILE))
    headings = re.findall(r"<h1[^>]*>(.*?)</h1>", text)
    assert headings[0].startswith("&lt;b&gt;")
    assert headings[1:4] == ["Fleet", "Features", "Evolutions"]
    assert headings.count("Fleet") == document(fleet, Address(addresses.FLEET)).count(">Fleet</h1>") == 1
    assert HOSTILE not in text


def test_only_its_own_scripts_may_run_and_nothing_is_loaded(fleet):
    text = document(fleet)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    assert f"default-src 'none'; script-src {' '.join(hashes)};" in policy[1]
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", text)


def test_an_empty_fleet_is_saved_without_scripts(tmp_path):
    save(FleetView(), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "<script" not in text
    assert "script-src 'none'" in text


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(EmlError, match="name a file in a folder that is there"):
        save(FleetView(), tmp_path / "nowhere/page.html")
