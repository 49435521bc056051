"""The live page of a running demonstration, clicked through in a browser: real broker, registry, Flink and records."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Page, expect

from eml.local.stack import Stack
from tests.browsing import browser, visit

pytestmark = pytest.mark.slow

MACHINES, RECORDS = 2, 100
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
DEMO = f"{LISTEN}; import sys; from eml.cli import main; sys.exit(main(['demo', *sys.argv[1:]]))"
PATIENCE_S = 240.0
HOSTILE = b"<b>not Avro</b>"


@contextmanager
def demo(stack: Stack, folder: Path) -> Iterator[Path]:
    """`eml demo --keep`; the file with its output."""
    numbers = ["--machines", str(MACHINES), "--records", str(RECORDS), "--picture", str(folder / "picture.png")]
    addresses = ["--broker", stack.bootstrap_servers, "--registry", stack.registry_url, "--keep"]
    output = folder / "output.txt"
    with output.open("wb") as written:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", DEMO, *addresses, *numbers],
            stdout=written,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
        )
    try:
        yield output
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def said(output: Path, pattern: str) -> str:
    """What the demonstration says, as soon as it does."""
    end = time.monotonic() + PATIENCE_S
    while not (found := re.search(pattern, output.read_text(encoding="utf-8"))):
        assert time.monotonic() < end, output.read_text(encoding="utf-8")
        time.sleep(0.2)
    return found[1]


def test_a_running_fleet_is_clicked_through(stack: Stack, tmp_path: Path):
    with browser() as started, demo(stack, tmp_path) as output:
        seen = visit(started, color_scheme="light")
        page, url = seen.page, said(output, r"The fleet's page: (\S+)")
        page.goto(url)
        page.wait_for_selector("#react-entry-point main h1")
        rolled_out(page)
        readings = said(output, r"topics +([\w-]+readings)")
        look_at_the_fleet(page)
        look_at_an_evolution(page)
        look_at_a_device(page)
        look_at_a_dead_letter(page, stack, readings)
        save(page, tmp_path)
        look_at_night_on_a_phone(page, url)
        assert seen.foreign == []
        assert seen.complaints == []


def rolled_out(page: Page) -> None:
    """The roll-out comes to its end while it is looked at."""
    text = re.compile(rf"Of {MACHINES} devices: {MACHINES} on \S+-value v3")
    expect(page.locator("#main figcaption").first).to_have_text(text, timeout=PATIENCE_S * 1000)


def look_at_the_fleet(page: Page) -> None:
    expect(page.locator("#main .tile", has_text="Accuracy").locator(".value")).to_have_text(re.compile(r"\d"))
    sent = f"{MACHINES * RECORDS * 3:,} predictions"
    expect(page.locator("#main .tile", has_text="Throughput")).to_contain_text(sent)
    expect(page.locator("#main .tile", has_text="Lag").locator(".value")).to_have_text("0")
    expect(page.locator("#main .graph .main-svg").first).to_be_attached()


def look_at_an_evolution(page: Page) -> None:
    page.get_by_role("link", name="Evolutions", exact=True).click()
    page.get_by_role("link", name="evolution", exact=True).first.click()
    expect(page.locator("#main h1")).to_contain_text("Evolution of machine-")
    expect(page.locator("#main")).to_contain_text("Vanished")
    expect(page.locator("#main")).to_contain_text("Augmented")


def look_at_a_device(page: Page) -> None:
    page.get_by_role("link", name="Devices", exact=True).click()
    page.get_by_role("link", name="machine-1", exact=True).click()
    expect(page.locator("#main h1")).to_have_text("machine-1")
    expect(page.locator("#main")).to_contain_text("eml capture machine-1.jsonl")
    expect(page.locator("#main table tbody tr").last).to_contain_text("readings/")


def look_at_a_dead_letter(page: Page, stack: Stack, readings: str) -> None:
    producer = Producer({"bootstrap.servers": stack.bootstrap_servers, "log_level": 0})
    producer.produce(readings, HOSTILE, key=b"machine-1")
    assert producer.flush(30) == 0
    page.get_by_role("link", name="Dead letters", exact=True).click()
    link = page.locator("#main tbody a").first
    expect(link).to_be_visible(timeout=60_000)
    link.click()
    expect(page.locator("#main pre")).to_contain_text("<b>not Avro</b>")
    expect(page.locator("#main")).to_contain_text("eml dead-letters replay")
    assert page.locator("pre b").count() == 0


def save(page: Page, folder: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="Save").click()
    path = folder / "saved.html"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert "&lt;b&gt;not Avro&lt;/b&gt;" in text
    assert "machine-1" in text


def look_at_night_on_a_phone(page: Page, url: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) != light
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("", "devices", "device/machine-1", "evolutions", "features", "dead-letters"):
        page.goto(url + path)
        page.wait_for_selector("#main h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
