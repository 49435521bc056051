"""What an address shows, and the address of what is shown: the page's whole state, so that a link can be sent.

Called by the screens, the page and the saved file; knows neither Dash nor the fleet. Keys are what devices sent: they
are escaped whole, and those that a browser would take for a folder stand in the query.
"""

from dataclasses import dataclass, replace
from urllib.parse import parse_qs, quote, unquote, urlencode

FLEET, DEVICES, EVOLUTIONS, FEATURES, DEAD_LETTERS = "fleet", "devices", "evolutions", "features", "dead-letters"
PATHS = {"": FLEET, "devices": DEVICES, "evolutions": EVOLUTIONS, "features": FEATURES, "dead-letters": DEAD_LETTERS}
DEVICE = "device"
ORDERS = ("key", "accuracy", "last", "dead-letters")
NO_SEGMENT = ("", ".", "..")  # browsers resolve these before they ask
LARGEST = 10**15  # no number on the page is larger; `int` of a longer text takes its time


@dataclass(frozen=True, slots=True)
class Address:
    """One state of the page."""

    place: str  # one of those above; empty: there is no such page
    key: str = ""  # of a device
    number: int | None = None  # of an evolution or a dead letter
    page: int = 0
    search: str = ""
    order: str = "key"
    reason: str = ""

    def at(self, page: int) -> "Address":
        """Another page of the same list."""
        return replace(self, page=page)


def read(pathname: str | None, query: str | None) -> Address:
    """What a browser's address means; anything may be in it."""
    parts = (pathname or "/").strip("/").split("/") if (pathname or "/").strip("/") else [""]
    asked = {name: values[-1] for name, values in parse_qs((query or "").lstrip("?")).items()}
    if parts[0] == DEVICE and len(parts) <= 2:
        key = unquote(parts[1], errors="surrogatepass") if len(parts) == 2 else asked.get("key", "")
        return Address(DEVICE, key=key)
    place = PATHS.get(parts[0], "")
    if len(parts) == 2 and place in (EVOLUTIONS, DEAD_LETTERS) and _natural(parts[1]) is not None:
        return Address(place, number=_natural(parts[1]))
    if len(parts) > 1 or not place:
        return Address("")
    order = asked.get("order", "key")
    return Address(
        place,
        page=max((_natural(asked.get("page", "1")) or 1) - 1, 0),
        search=asked.get("search", ""),
        order=order if order in ORDERS else "key",
        reason=asked.get("reason", ""),
    )


def write(address: Address) -> str:
    """The link to a state."""
    if address.place == DEVICE:
        return device(address.key)
    path = "/" if address.place in ("", FLEET) else f"/{address.place}"
    if address.number is not None:
        return f"{path}/{address.number}"
    asked = {
        "search": address.search,
        "order": "" if address.order == "key" else address.order,
        "reason": address.reason,
        "page": str(address.page + 1) if address.page else "",
    }
    query = urlencode({name: value for name, value in asked.items() if value}, errors="surrogatepass")
    return f"{path}?{query}" if query else path


def device(key: str) -> str:
    """The link to a device."""
    escaped = quote(key, safe="", errors="surrogatepass")
    return f"/{DEVICE}?key={escaped}" if key in NO_SEGMENT else f"/{DEVICE}/{escaped}"


def _natural(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)) else None
