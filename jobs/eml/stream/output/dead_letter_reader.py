"""What a dead letter says of itself: the headers that `dead_letters.encode` wrote, read again.

Called by the tools that show and replay dead letters. A topic of dead letters may hold what others wrote, so nothing
here is trusted: a header that is missing or makes no sense is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eml.stream.output.dead_letters import CONNECT, OWN
from eml.stream.records import REPLAYS

UNKNOWN = "unknown"  # the reason where none is said
LONGEST_NUMBER = 19  # digits


@dataclass(frozen=True, slots=True)
class ReadDeadLetter:
    """Why a record could not be used, and where it came from."""

    reason: str
    error: str
    message: str
    topic: str  # of the record; empty where it is not said
    partition: int | None
    offset: int | None
    timestamp_ms: int | None
    schema_id: int | None
    of_key: bool  # its key is wrong, not its value
    shortened: tuple[str, ...]  # of key, headers and value those that are not whole
    replays: int  # how often it was sent again

    @property
    def source(self) -> str:
        """Where the record stands: topic/partition/offset."""
        return "/".join("?" if part in (None, "") else str(part) for part in (self.topic, self.partition, self.offset))


def read(headers: Mapping[str, bytes | None]) -> ReadDeadLetter:
    """The dead letter with these headers."""

    def text(name: str) -> str:
        return (headers.get(name) or b"").decode(errors="replace")

    def number(name: str) -> int | None:
        digits = text(name)
        return int(digits) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else None

    return ReadDeadLetter(
        text(f"{OWN}reason") or UNKNOWN,
        text(f"{CONNECT}exception.class.name"),
        text(f"{CONNECT}exception.message"),
        text(f"{CONNECT}topic"),
        number(f"{CONNECT}partition"),
        number(f"{CONNECT}offset"),
        number(f"{OWN}timestamp"),
        number(f"{OWN}schema.id"),
        text(f"{CONNECT}stage") == "KEY_CONVERTER",
        tuple(filter(None, text(f"{OWN}shortened").split(","))),
        number(REPLAYS) or 0,
    )


def own_headers(headers: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """The headers that the record itself had, as far as its dead letter has them."""
    return {name: value for name, value in headers.items() if not name.startswith((CONNECT, OWN))}
