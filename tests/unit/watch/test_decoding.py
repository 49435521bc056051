"""Records of the job's topics: read by the schema that wrote them, whichever release that was of."""

import json

import pytest

from eml.stream.output.schemas import schema_text
from eml.stream.wire import frame
from eml.watch.decoding import Decoder, UnreadableError
from tests.watched import evolution, framed, prediction, score

RECORDS = {"prediction": prediction(), "score": score(cold_right=False), "evolution": evolution()}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("known", [True, False])
def test_what_this_release_writes_is_read_with_and_without_a_registry(name, known):
    decoder = Decoder(lambda _: schema_text(name) if known else None)
    assert decoder.read(name, framed(name, RECORDS[name])) == RECORDS[name]


def test_what_a_newer_release_writes_is_read_without_its_new_fields():
    newer = json.loads(schema_text("prediction"))
    newer["fields"].insert(2, {"name": "weather", "type": ["null", "string"], "default": None})
    fields = prediction(event_id=None, event_time=None)
    own = framed("prediction", fields)
    head = len(framed("prediction", fields)) - len(own) + 5 + len(fields["key"]) + 1 + 1  # frame, key, no event id
    value = own[:head] + b"\x02\x0asunny" + own[head:]
    assert Decoder(lambda _: json.dumps(newer)).read("prediction", value) == fields


def test_what_an_older_release_wrote_gets_the_defaults():
    older = json.loads(schema_text("prediction"))
    assert older["fields"].pop()["name"] == "model"
    fields = prediction(model="")
    value = framed("prediction", fields)[:-1]
    assert Decoder(lambda _: json.dumps(older)).read("prediction", value) == fields


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"{}",
        b"\1\0\0\0\1abc",
        frame(1, b""),
        framed("prediction", prediction())[:40],
        frame(1, b"\x80" * 60),
        frame(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7fabc"),
    ],
)
@pytest.mark.parametrize("text", [None, schema_text("prediction"), schema_text("label"), "{", '"string"'])
def test_other_bytes_are_unreadable_and_nothing_worse(value, text):
    with pytest.raises(UnreadableError):
        Decoder(lambda _: text).read("prediction", value)
