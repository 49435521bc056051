"""Dead letters on the page: the newest, decoded as far as it goes, and the line that sends one again."""

from eml.stream.wire import frame
from eml.watch import dead_letters as dead_letters_module
from eml.watch.dead_letter_detail import hex_lines
from eml.watch.dead_letters import Arrived
from eml.watch.fleet_view import FleetView, Surroundings
from tests.watched import BEGIN_MS, dead_letter_headers

SCHEMA = """{"type": "record", "name": "R", "fields": [
    {"name": "temperature", "type": "double"}, {"name": "note", "type": "string"}]}"""
VALUE = frame(7, b"\0\0\0\0\0\0\xf0\x3f\x0ahel")  # 1.0, and a text of 5 bytes of which 3 are there


def arrived(reason="truncated", value=VALUE, key="pump-1", place="dead-letters/0/3"):
    return Arrived(key, value, dead_letter_headers(reason), BEGIN_MS, place)


def test_a_dead_letter_is_decoded_as_far_as_it_goes():
    view = FleetView(Surroundings(options="--settings eml.toml", schema_text={7: SCHEMA}.get))
    view.add_dead_letters([arrived()])
    (row,) = view.dead_letters().rows
    assert (row.key, row.reason, row.message, row.source) == ("pump-1", "truncated", "it ends early", "readings/0/7")
    detail = view.dead_letter(row.number)
    assert detail is not None
    assert detail.fields == {"temperature": "1.0"}
    assert detail.stopped_at.startswith("note: ")
    assert detail.hex_lines[0].startswith("000000  00 00 00 00 07 00 00 00 00 00 00 f0 3f 0a 68 65  ")
    assert detail.length == len(VALUE)
    assert detail.headers["eml.errors.reason"] == "truncated"
    assert detail.commands == ["eml dead-letters replay --settings eml.toml dead-letters/0/3"]


def test_what_cannot_be_decoded_says_why():
    view = FleetView()
    view.add_dead_letters([arrived(), arrived(value=b"{}"), arrived(value=None)])
    details = [view.dead_letter(number) for number in (1, 2, 3)]
    reasons = [detail.stopped_at for detail in details if detail]
    assert "schema 7 cannot be had" in reasons[0]
    assert "too few for a frame" in reasons[1]
    assert "no value" in reasons[2]


def test_they_are_listed_by_reason_newest_first():
    view = FleetView()
    view.add_dead_letters(arrived("bad-value" if number % 3 else "truncated") for number in range(90))
    assert view.summary().dead_letters == {"bad-value": 60, "truncated": 30}
    assert [row.number for row in view.dead_letters().rows[:3]] == [90, 89, 88]
    assert view.dead_letters("truncated").total == 30
    assert {row.reason for row in view.dead_letters("truncated").rows} == {"truncated"}
    assert view.devices().rows[0].dead_letters == 90


def test_they_are_bounded_in_number_bytes_and_reasons(monkeypatch):
    monkeypatch.setattr(dead_letters_module, "MOST", 10)
    view = FleetView()
    view.add_dead_letters(arrived(f"reason-{number}") for number in range(200))
    assert view.dead_letters().total == 10
    assert view.dead_letter(190) is None
    assert view.dead_letter(191) is not None
    assert len(view.summary().dead_letters) == 41
    assert sum(view.summary().dead_letters.values()) == 200
    monkeypatch.setattr(dead_letters_module, "BYTES", 3_000)
    view.add_dead_letters(arrived(value=bytes(1_000)) for _ in range(10))
    assert view.dead_letters().total == 2


def test_hex_lines_show_offset_bytes_and_what_can_be_printed():
    lines = list(hex_lines(b"<script>\0\xff" + b"a" * 10))
    assert lines == [
        "000000  3c 73 63 72 69 70 74 3e 00 ff 61 61 61 61 61 61  <script>..aaaaaa",
        "000010  61 61 61 61                                      aaaa",
    ]
