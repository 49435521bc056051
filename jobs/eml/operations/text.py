"""What devices sent, as text that does nothing to a terminal; times and numbers as people read them.

Called by the commands of this package for all that comes from a topic. Names and messages may hold anything: control
characters are shown as escapes, and what is too long is cut.
"""

from datetime import UTC, datetime

from eml.settings import LimitsSettings
from eml.stream.errors import BadRecordError
from eml.stream.keys import KafkaKey, ReadKey, names_of
from eml.stream.wire import SchemaId

LONGEST = 200  # characters of a name or message on a line
LATEST_MS = 253_402_300_799_999  # the last moment that has four digits for its year


def plain(value: object, longest: int = LONGEST) -> str:
    """Text for a terminal."""
    text = str(value)
    cut = f"{text[:longest]}..." if len(text) > longest else text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in cut)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


def time_of(timestamp_ms: object) -> str:
    """A time in UTC, to the millisecond; a number that is none stays one."""
    if not isinstance(timestamp_ms, int) or not 0 <= timestamp_ms <= LATEST_MS:
        return str(timestamp_ms)
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"


def key_text(key: KafkaKey, key_format: str) -> str:
    """The name of a key as far as it can be read without the registry, else its bytes in hex."""
    if not key:
        return ""
    try:
        if key_format != "avro":
            return names_of(key_format, LimitsSettings(), _no_registry)(key)
    except BadRecordError:
        pass
    return f"0x{key.encode('latin-1').hex()}"


def _no_registry(schema_id: SchemaId) -> ReadKey:
    raise AssertionError(f"no key here is read with a schema, not with {schema_id} either")


def percent(share: float) -> str:
    """A share as whole percent; what is not quite all is not rounded to it."""
    return f"{min(round(100 * share), 99) if share < 1 else 100} %"
