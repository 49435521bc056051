"""An address says all of what is shown, and whatever stands in it is read without an error."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.watch import addresses
from eml.watch.addresses import Address

KEYS = st.text(st.characters(exclude_categories=()))


def back(address):
    """As a browser resolves a link, and gives it to the page."""
    parts = urlsplit(urljoin("http://localhost/devices?x=1", addresses.write(address)))
    assert parts.netloc == "localhost"
    return addresses.read(parts.path, f"?{parts.query}" if parts.query else "")


@given(KEYS)
def test_a_devices_link_leads_back_to_it(key):
    assert back(Address(addresses.DEVICE, key=key)) == Address(addresses.DEVICE, key=key)


@pytest.mark.parametrize("key", ["", ".", "..", "a/b", "a?b#c", "%2e", "+", "//evil.example"])
def test_names_that_mean_something_in_addresses_do_too(key):
    assert back(Address(addresses.DEVICE, key=key)).key == key


@given(
    st.sampled_from([addresses.DEVICES, addresses.DEAD_LETTERS, addresses.EVOLUTIONS]),
    st.text(),
    st.sampled_from(addresses.ORDERS),
    st.integers(0, 10**6),
)
def test_a_list_is_found_again_with_its_search_order_and_page(place, text, order, page):
    address = Address(place, search=text, reason=text, order=order, page=page)
    assert back(address) == address


def test_what_is_opened_has_its_number():
    assert addresses.read("/evolutions/3", "") == Address(addresses.EVOLUTIONS, number=3)
    assert addresses.read("/dead-letters/12/", "") == Address(addresses.DEAD_LETTERS, number=12)


@given(st.text(), st.text())
def test_anything_else_is_no_page_or_a_list(pathname, query):
    assert addresses.read(pathname, query).page >= 0


@pytest.mark.parametrize(
    "pathname", ["/evolutions/x", "/devices/1", "/nowhere", "/evolutions/" + "9" * 99, "/device/a/b"]
)
def test_what_is_nowhere_is_no_place(pathname):
    assert addresses.read(pathname, "").place == ""
