"""Who may see the page: loopback, a token elsewhere, no foreign name, and a browser that trusts nothing else."""

import pytest

from eml.watch.application import application
from eml.watch.doors import Doors, WatchError
from eml.watch.fleet_view import FleetView
from eml.watch.page import Page

TOKEN = "a-token-of-some-length"  # noqa: S105  of this test
OUTSIDE = "192.0.2.7"


@pytest.fixture
def client():
    return application(FleetView(), Doors("127.0.0.1", None)).server.test_client()


@pytest.fixture
def guarded():
    return application(FleetView(), Doors(OUTSIDE, TOKEN)).server.test_client(use_cookies=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", OUTSIDE, "example.com"])  # noqa: S104  refused
def test_other_machines_need_a_token(host):
    with pytest.raises(WatchError, match="--token"):
        Doors(host, None)
    with pytest.raises(WatchError, match="too short"):
        Doors(host, "secret")
    assert Doors(host, TOKEN).is_token(TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_this_machine_needs_none(host):
    assert not Doors(host, None).is_token("")


@pytest.mark.parametrize("name", ["evil.example", "evil.example:8050", "127.0.0.1.evil.example", "", "[::2]:8050"])
@pytest.mark.parametrize("path", ["/", "/save", "/_dash-layout", "/assets/style.css"])
def test_a_name_that_is_not_ours_is_refused(client, name, path):
    assert client.get(path, headers={"Host": name}).status_code == 421


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1:8050", "[::1]:9", "LOCALHOST:1"])
def test_a_forwarded_port_is_still_ours(client, name):
    assert client.get("/", headers={"Host": name}).status_code == 200


def test_a_server_for_all_addresses_knows_addresses_and_its_own_name():
    doors = Doors("0.0.0.0", TOKEN)  # noqa: S104  nothing listens here
    assert doors.knows("192.0.2.1:8050")
    assert not doors.knows("evil.example:8050")


@pytest.mark.parametrize("path", ["/", "/device/x", "/save", "/_dash-layout", "/_dash-dependencies", "/assets/page.js"])
def test_without_the_token_nothing_is_shown(guarded, path):
    for query in ("", "?token=", "?token=another-token-entirely", "?token=a-token-of-some-lengtH"):
        assert guarded.get(path + query, headers={"Host": OUTSIDE}).status_code == 403
    assert guarded.post("/_dash-update-component", json={}, headers={"Host": OUTSIDE}).status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(guarded):
    answer = guarded.get(f"/devices?search=x&token={TOKEN}", headers={"Host": OUTSIDE})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/devices?search=x")
    cookie = answer.headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    sent = {"Host": OUTSIDE, "Cookie": cookie.partition(";")[0]}
    assert guarded.get("/devices", headers=sent).status_code == 200
    assert guarded.get("/devices", headers={**sent, "Cookie": cookie.partition("=")[0] + "=x"}).status_code == 403


def test_the_way_back_never_leads_to_another_host(guarded):
    answer = guarded.get(
        f"/?token={TOKEN}", headers={"Host": OUTSIDE}, environ_overrides={"PATH_INFO": "//evil.example/"}
    )
    assert answer.headers["Location"] == "/evil.example/"


def test_the_browser_is_told_to_trust_nothing_else(client):
    answer = client.get("/")
    policy = answer.headers["Content-Security-Policy"]
    scripts = policy.partition("script-src ")[2].partition(";")[0]
    assert "default-src 'none'" in policy
    assert "unsafe" not in scripts
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "http://" not in answer.text.replace("http://www.w3.org", "")
    assert "https://" not in answer.text.replace("https:\\u002f\\u002fdash-version.plotly.com", "")


def test_an_address_that_cannot_be_listened_on_is_said():
    with pytest.raises(WatchError, match="choose another"):
        Page(FleetView(), "127.0.0.1", 99_999)
    with Page(FleetView()) as page, pytest.raises(WatchError, match="choose another"):
        Page(FleetView(), port=page.port)
