"""The page in a browser: it is found, read and used by everyone, stays live, and shows names of devices as text."""

import itertools
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from eml.watch.fleet_view import FleetView
from eml.watch.page import Page
from tests.browsing import HOSTILE, made_fleet
from tests.watched import SyntheticFleet, fed

pytestmark = pytest.mark.slow

SCREENS = [
    "",
    "devices",
    "device/pump-00007",
    "evolutions",
    "evolutions/1",
    "features",
    "dead-letters",
    "dead-letters/3",
]
CHART = ".graph .main-svg"
STYLE = Path(__file__).parents[3] / "jobs/eml/watch/assets/style.css"
NAMELESS = """[...document.querySelectorAll('a,button,input,[role=img],[role=region],nav,section,progress,pre')]
    .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent))
    .map(e => e.outerHTML)"""
HEIGHTS = """window.heights = new Set(); setInterval(() => document.querySelectorAll('.graph').forEach(
    e => window.heights.add(e.getBoundingClientRect().height)), 10)"""
LEVELS = "[...document.querySelectorAll('h1,h2,h3')].map(e => Number(e.tagName[1]))"


@pytest.mark.parametrize("path", SCREENS)
def test_each_screen_is_told_to_everyone(opened, path):
    page = opened(path).page
    assert page.locator("h1").count() == page.locator("main").count() == page.locator("header").count() == 1
    assert page.title() == f"{page.locator('h1').inner_text()} · EML watch"
    levels = page.evaluate(LEVELS)
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert page.evaluate(NAMELESS) == []
    assert page.locator(".place[aria-current=page]").count() == 1
    assert page.locator("table").count() == page.locator("table > caption").count()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(opened, server, scheme):
    page = opened(viewport={"width": 360, "height": 740}, color_scheme=scheme).page
    for path in SCREENS:
        page.goto(server.url + path)
        page.wait_for_selector("#react-entry-point main h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_it_is_clicked_through_and_each_state_has_an_address(opened, server):
    page = opened().page
    expect(page.locator(CHART).first).to_be_attached()
    page.get_by_role("link", name="evolution", exact=True).click()
    expect(page.locator("h1")).to_have_text("Evolution of pump-00000 and 59 others")
    assert page.url == f"{server.url}evolutions/1"
    expect(page.locator("main")).to_contain_text("oil_pressure")
    page.get_by_role("link", name="Open the device").click()
    expect(page.locator("h1")).to_have_text("pump-00000")
    assert page.url == f"{server.url}device/pump-00000"
    page.get_by_role("link", name="Dead letters").click()
    page.get_by_role("link", name=re.compile("truncated \\(")).click()
    expect(page.locator("tbody tr").first).to_contain_text("truncated")
    page.locator("tbody a").first.click()
    expect(page.locator("pre")).to_contain_text("000000  00 00 00 00 07")
    expect(page.locator("main")).to_contain_text("eml dead-letters replay --settings eml.toml dead-letters/0/1")
    page.go_back()
    expect(page).to_have_url(f"{server.url}dead-letters?reason=truncated")
    expect(page.locator("h1")).to_have_text("Dead letters")
    page.goto(f"{server.url}nowhere")
    expect(page.locator("h1")).to_have_text("Not found")


def test_devices_are_found_ordered_and_paged_by_address(opened, server):
    page = opened("devices").page
    page.get_by_label("Find a device").fill("PUMP-0001")
    expect(page).to_have_url(f"{server.url}devices?search=PUMP-0001")
    expect(page.locator("tbody tr")).to_have_count(10)
    page.goto(f"{server.url}devices")
    page.get_by_role("link", name="Accuracy").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Accuracy")
    page.get_by_role("link", name="Next").click()
    expect(page).to_have_url(f"{server.url}devices?order=accuracy&page=2")
    expect(page.locator(".pager")).to_contain_text("51 to 64 of 64")


def test_what_changes_is_shown_and_a_readers_place_is_kept(opened):
    fleet = made_fleet(devices=10, records=2_000)
    with Page(fleet) as own:
        page = opened(url=own.start().url).page
        page.wait_for_selector(CHART, state="attached")
        page.locator("summary").first.click()
        page.get_by_role("link", name="All evolutions").focus()
        page.evaluate("window.chart = document.querySelector('.js-plotly-plot')")
        page.evaluate(HEIGHTS)
        before = page.locator("main dl").inner_text()
        fed(SyntheticFleet(20, 200, fleet.accuracy().times_ms[-1], 2000.0).said(), fleet)
        expect(page.locator("main dl")).not_to_have_text(before)
        page.wait_for_timeout(300)
        assert page.evaluate("document.activeElement.textContent") == "All evolutions"
        assert page.evaluate("window.chart === document.querySelector('.js-plotly-plot')")
        assert page.evaluate("[...window.heights]") == [300], "a chart has the room that its style gives it"
        assert page.locator("details").first.get_attribute("open") is not None
        page.goto("about:blank")  # before its server ends


def test_a_hidden_page_asks_for_nothing(opened):
    page = opened().page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
    tell = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(hide % "true" + tell)
    page.wait_for_timeout(500)
    asked.clear()
    page.wait_for_timeout(2_500)
    assert asked == []
    page.evaluate(hide % "false" + tell)
    page.wait_for_timeout(2_500)
    assert asked != []


@pytest.mark.parametrize("key", [HOSTILE, "..", "a/b?c#d", "left\u202eright"])
def test_names_of_devices_are_text_and_their_links_work(opened, key):
    page = opened("devices").page
    page.on("dialog", lambda _: pytest.fail("a script of a device ran"))
    shown = key.replace("\u202e", "\\u{202e}")
    page.get_by_role("link", name=shown, exact=True).click()
    expect(page.locator("h1")).to_have_text(shown)
    assert page.locator("main img, main h1 b").count() == 0
    page.reload()
    expect(page.locator("#react-entry-point h1")).to_have_text(shown)


def test_light_and_dark_are_the_systems_until_they_are_chosen(opened):
    page = opened(color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    switch = page.get_by_role("button", name="Dark")
    expect(switch).to_have_attribute("aria-pressed", "true")
    dark = page.evaluate(ground)
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert page.evaluate(ground) != dark
    page.reload()
    page.wait_for_selector("#react-entry-point main h1")
    assert page.evaluate(ground) != dark


def test_the_keyboard_reaches_everything_and_shows_where_it_is(opened):
    page = opened("evolutions").page
    reached: list[str] = []
    while reached[-1:] != ["evolution"]:
        assert len(reached) < 20, reached
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent || document.activeElement.id"))
        assert page.evaluate("""[document.activeElement, document.activeElement.parentElement]
            .some(e => getComputedStyle(e).outlineStyle !== 'none')"""), reached
    assert reached[0] == "Skip to content"
    wanted = ["Fleet", "Devices", "Evolutions", "Features", "Dead letters", "find", "Save", "Dark", "evolution"]
    assert [each for each in reached if each in wanted] == wanted
    page.get_by_role("link", name="evolution", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()


def test_a_line_is_copied_by_its_button(opened):
    page = opened("device/pump-00007", permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copy").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("eml capture pump-00007.jsonl")


def test_what_is_wrong_stands_above_all(opened, fleet):
    fleet.set_problem("kafka", "The broker does not answer: check kafka.bootstrap_servers.")
    try:
        page = opened().page
        expect(page.get_by_role("status")).to_contain_text("check kafka.bootstrap_servers")
        expect(page.locator(".state")).to_have_text("Problem")
        fleet.set_problem("kafka", "")
        expect(page.locator(".state")).to_have_text("Live")
    finally:
        fleet.set_problem("kafka", "")


def test_a_page_whose_server_is_gone_says_that_it_is_old(opened, fleet):
    with Page(fleet) as first:
        visit = opened(url=first.start().url)
        expect(visit.page.get_by_role("alert")).to_be_hidden()
    expect(visit.page.get_by_role("alert")).to_contain_text("what you see is old")
    with Page(fleet, port=first.port) as second:
        second.start()
        expect(visit.page.get_by_role("alert")).to_be_hidden()
        visit.page.goto("about:blank")
    visit.complaints.clear()  # that the server was gone


def test_an_empty_fleet_says_what_to_do(opened):
    with Page(FleetView()) as empty:
        page = opened(url=empty.start().url).page
        expect(page.locator("main")).to_contain_text("start the job, and let devices send readings")
        expect(page.locator("main")).to_contain_text("No labels yet: accuracy appears with the first label.")
        expect(page.get_by_role("status")).to_contain_text("Reading what the topics hold")
        for path in (
            "devices",
            "evolutions",
            "features",
            "dead-letters",
            "device/nobody",
            "evolutions/7",
            "dead-letters/7",
        ):
            page.goto(empty.url + path)
            expect(page.locator("#react-entry-point .empty").first).to_be_visible()
        page.goto("about:blank")  # before its server ends


def test_it_is_read_where_no_script_runs(chromium, server):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url)
    expect(page.locator("#early h1")).to_have_text("Fleet")
    page.get_by_role("link", name="Devices", exact=True).click()
    expect(page.locator("#early tbody tr").first).to_be_visible()
    context.close()


def test_the_saved_file_needs_nothing_and_is_drawn_from_a_disk(opened, chromium, tmp_path):
    page = opened("device/pump-00007").page
    with page.expect_download() as download:
        page.get_by_role("link", name="Save").click()
    path = tmp_path / download.value.suggested_filename
    assert re.fullmatch(r"eml-watch-\d{8}T\d{6}Z\.html", path.name)
    download.value.save_as(path)
    context = chromium.new_context(offline=True)
    saved = context.new_page()
    complaints: list[str] = []
    saved.on("console", lambda said: complaints.append(said.text))
    saved.on("dialog", lambda _: pytest.fail("a script of a device ran"))
    saved.goto(path.as_uri())
    expect(saved.locator(CHART).first).to_be_attached()
    headings = saved.locator("h1").all_inner_texts()
    assert headings[:2] == ["pump-00007", "Fleet"]
    assert "Features" in headings
    assert HOSTILE in saved.locator("main").inner_text()
    assert saved.locator("img, a, button").count() == 0
    assert complaints == []
    assert path.stat().st_size < 8_000_000
    context.close()


def test_texts_stand_out_on_every_ground():
    found = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", STYLE.read_text())
    pairs = {name: (light, dark) for name, light, dark in found}
    for text in ("ink", "soft", "link", "good", "bad", "warn"):
        for ground in ("ground", "paper", "tint"):
            for scheme in (0, 1):
                assert contrast(pairs[text][scheme], pairs[ground][scheme]) >= 4.5, (text, ground, scheme)


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
