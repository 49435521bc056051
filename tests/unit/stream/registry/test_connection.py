"""A registry in trouble: records wait, and it is not asked again too soon."""

import time

import pytest

from eml.stream.registry.client import OTHERS_FIRST_S
from tests.unit.stream.registry.asking import NOWHERE, SECRET, unavailable
from tests.unit.stream.registry.registry_server import serving

TROUBLES = {
    "500": (500, {"error_code": 50001}),
    "502 of a proxy": (502, b"<html>"),
    "503": (503, b""),
    "408": (408, b""),
    "429": (429, {"message": "slow down"}),
    "another 4xx": (418, b""),
    "a redirect": (302, b""),
    "no JSON": (200, b"<html>"),
    "deep JSON": (200, b"[" * 100_000),
    "no schema": (200, {"id": 7}),
    "a schema that is no text": (200, {"schema": {"type": "record"}}),
    "a list": (200, [1, 2]),
    "nothing": (200, b""),
}


@pytest.mark.parametrize("reply", TROUBLES.values(), ids=TROUBLES)
def test_trouble_is_no_fault_of_the_record(server, connect, clock, reply):
    server.trouble = lambda _: reply
    client = connect()
    assert server.url in str(unavailable(client.reading_schema, 7))
    server.trouble = lambda _: None
    clock.now += 60
    assert client.reading_schema(7).version == 3


@pytest.mark.parametrize("reply", [(500, b""), (200, {}), (200, [{"subject": "s"}]), (200, [7]), (418, b"")])
def test_trouble_with_versions_is_trouble_too(server, connect, clock, reply):
    server.trouble = lambda handler: reply if handler.path.endswith("/versions") else None
    client = connect()
    unavailable(client.reading_schema, 7)
    server.trouble = lambda _: None
    clock.now += 60
    assert client.reading_schema(7).version == 3


def test_nobody_at_the_address_is_unavailable(connect):
    assert NOWHERE in str(unavailable(connect(url=NOWHERE).reading_schema, 7))


def test_a_redirect_is_not_followed(server, connect):
    with serving() as other:

        def redirect(handler):
            handler.send_response(302)
            handler.send_header("Location", other.url + handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            handler.wfile.flush()
            raise ConnectionAbortedError

        server.trouble = redirect
        assert "registry.url" in str(unavailable(connect(username="u", password=SECRET).reading_schema, 7))
        assert other.asked == []


def test_a_server_that_hangs_up_is_unavailable(server, connect):
    def hang_up(_):
        raise ConnectionAbortedError

    server.trouble = hang_up
    unavailable(connect().reading_schema, 7)


def test_a_silent_server_is_left_at_the_timeout(server, connect):
    server.trouble = lambda _: time.sleep(0.6)
    started = time.monotonic()
    assert "timeout_ms" in str(unavailable(connect(timeout_ms=100).reading_schema, 7))
    assert time.monotonic() - started < 0.5


def test_a_server_that_drips_its_answer_is_left_at_the_timeout(server, connect):
    def drip(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)  # each byte well within the timeout
        raise ConnectionAbortedError

    server.trouble = drip
    started = time.monotonic()
    assert "timeout_ms" in str(unavailable(connect(timeout_ms=200).reading_schema, 7))
    assert time.monotonic() - started < 1.0


def test_known_schemas_flow_on_while_the_registry_is_away(server, connect):
    client = connect()
    known = client.reading_schema(7)
    server.trouble = lambda _: (503, b"")
    unavailable(client.reading_schema, 8)
    assert client.reading_schema(7) is known


def test_after_a_failure_nothing_is_asked_until_the_wait_is_over(server, connect, clock):
    server.trouble = lambda _: (503, b"")
    client = connect(retry_ms=200, longest_retry_ms=1_000)
    waits = []
    for asked in range(1, 7):
        error = unavailable(client.reading_schema, 7)
        assert len(server.asked) == asked
        waits.append(error.retry_after_ms)
        assert unavailable(client.reading_schema, 7).retry_after_ms >= waits[-1] + 1000 * OTHERS_FIRST_S - 1, (
            "others go first"
        )
        clock.now += error.retry_after_ms / 1000 - 0.01
        for ask in (client.reading_schema, client.latest_version):
            again = unavailable(ask, "s" if ask == client.latest_version else 8)
            assert again.retry_after_ms <= 11
            assert "503" in str(again)
        assert len(server.asked) == asked
        clock.now += 0.011 + OTHERS_FIRST_S
    for wait, most in zip(waits, (200, 400, 800, 1000, 1000, 1000), strict=True):
        assert most / 2 <= wait <= most + 1
    assert len(set(waits[3:])) > 1  # chance keeps operators apart
    server.trouble = lambda _: None
    assert client.reading_schema(7).id == 7
    server.trouble = lambda _: (503, b"")
    assert unavailable(client.reading_schema, 8).retry_after_ms <= 201
