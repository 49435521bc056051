"""What the tests of the page share: one browser, and one made fleet behind a server."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from eml.watch.fleet_view import FleetView
from eml.watch.page import Page
from tests.browsing import Visit, browser, made_fleet, visit

Open = Callable[..., Visit]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Debian's browser."""
    with browser() as started:
        yield started


@pytest.fixture(scope="package")
def fleet() -> FleetView:
    """Sixty devices that were upgraded, and four with names that are HTML and paths."""
    return made_fleet()


@pytest.fixture(scope="package")
def server(fleet: FleetView) -> Iterator[Page]:
    """The page of that fleet."""
    with Page(fleet) as page:
        yield page.start()


@pytest.fixture
def opened(chromium: Browser, server: Page) -> Iterator[Open]:
    """Open an address in a window of its own; at the end, no script failed and nothing came from elsewhere."""
    visits: list[Visit] = []

    def open_address(path: str = "", url: str = server.url, **look: object) -> Visit:
        visits.append(visit(chromium, **look))
        visits[-1].page.goto(url + path)
        visits[-1].page.wait_for_selector("#react-entry-point main h1")
        return visits[-1]

    yield open_address
    for each in visits:
        assert each.foreign == []
        assert each.complaints == []
        each.page.context.close()
