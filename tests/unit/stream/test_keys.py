"""Names of keys: text, numbers, and what is said of a key that is neither."""

import pytest

from eml.settings import LimitsSettings
from eml.stream.errors import BadRecordError
from eml.stream.keys import names_of


def name(key: bytes, key_format: str = "text") -> str:
    return names_of(key_format, LimitsSettings())(key.decode("latin-1"))


def test_a_text_is_its_own_name():
    assert name("Pümpe 7/a".encode()) == "Pümpe 7/a"


@pytest.mark.parametrize(("key", "number"), [(b"\0\0\0\7", 7), (b"\xff\xff\xff\xff", -1), (b"abcd", 0x61626364)])
def test_a_number_is_named_by_its_digits(key, number):
    assert name(key, "int") == str(number)
    wide = int(number).to_bytes(8, "big", signed=True)
    assert name(wide, "long") == str(number)


@pytest.mark.parametrize(
    ("key", "reason", "advice"),
    [
        (b"", "no-key", "send each with its device's name"),
        (b"\0\0\0\0\5\x0apump-", "bad-key", 'record.key_format = "avro"'),
        (b"\0\0\0\0\0\0\0\x11", "bad-key", 'record.key_format = "long" or .* record.key_format = "avro"'),
        (b"\1\0\0\0\0\0\0\x11", "bad-key", 'record.key_format = "long"'),
        (b"\0\0\0\x11", "bad-key", 'record.key_format = "int"'),
        (b"\xff\xfe", "bad-key", "UTF-8"),
        (b"pump\n7", "bad-key", "UTF-8"),
        (b"x" * 2_000, "too-large", "limits.key_bytes"),
    ],
)
def test_keys_that_are_not_text_say_what_to_set(key, reason, advice):
    with pytest.raises(BadRecordError, match=advice) as error:
        name(key)
    assert error.value.reason == reason


def test_a_number_of_another_length_is_refused():
    with pytest.raises(BadRecordError, match="4 bytes, not the 8"):
        name(b"pump", "long")
