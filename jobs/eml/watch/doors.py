"""Who may see the page: a token, the Host header, and what a browser is told about its safety.

Called by `page` for every request. On loopback no token is needed: whoever is on the machine may read the topics, too.
The Host header must name this server, else a foreign site whose name was pointed at it could read it through a
visitor's browser (DNS rebinding).
"""

import hmac
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from flask import Flask, Request, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from eml.core.errors import EmlError

SHORTEST_TOKEN = 16  # characters: nobody guesses that many over a network
MAX_AGE_S = 30 * 86_400  # of the cookie
ASKED = "token"  # name of the token in the first address
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
REFUSED = "Not allowed: open this page with ?token=..., the token that `eml watch` was started with.\n"
FOREIGN = (
    "Not allowed: this server is not known by the name in the address. Use the address that `eml watch` printed.\n"
)


class WatchError(EmlError):
    """The page cannot be served as it was asked for; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What is asked of a request."""

    host: str  # that the server listens on
    token: str | None

    def __post_init__(self) -> None:
        """Refuse what would be open to others."""
        if self.token is None and not is_loopback(self.host):
            raise WatchError(f"Others could read the page on {self.host}: give a token (--token), or leave out --host.")
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise WatchError(f"The token is too short to be safe: give at least {SHORTEST_TOKEN} characters (--token).")

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers mix those of all ports of a host, so each token has its own."""
        return f"eml-watch-{self._made('name')[:8]}"

    @property
    def pass_value(self) -> str:
        """What the cookie holds: made from the token, which it does not tell."""
        return self._made("value")

    def _made(self, what: str) -> str:
        return hmac.new((self.token or "").encode(), what.encode(), sha256).hexdigest()

    def knows(self, host_header: str) -> bool:
        """Whether a Host header names this server."""
        name = _name(host_header)
        if name in LOOPBACK_NAMES or name == self.host.casefold():
            return True
        if self.host not in ("0.0.0.0", "::"):  # noqa: S104  compared, not bound
            return False
        return _is_address(name) or name in (socket.gethostname().casefold(), socket.getfqdn().casefold())

    def admits(self, incoming: Request) -> bool:
        """Whether a request has the cookie; without a token all have."""
        return self.token is None or _same(incoming.cookies.get(self.cookie, ""), self.pass_value)

    def is_token(self, given: str) -> bool:
        """Whether this is the token."""
        return self.token is not None and _same(given, self.token)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host.casefold() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def guard(server: Flask, doors: Doors, scripts: Sequence[str]) -> None:
    """Ask every request, and tell every browser."""
    policy = _policy(scripts)

    def before() -> AnyResponse | None:
        if not doors.knows(request.host):
            return Response(FOREIGN, 421, mimetype="text/plain")
        if request.args.get(ASKED) and doors.is_token(request.args[ASKED]):
            return _let_in(doors)
        return None if doors.admits(request) else Response(REFUSED, 403, mimetype="text/plain")

    def after(response: Response) -> Response:
        response.headers.update(policy)
        if not request.path.startswith(("/_dash-component-suites/", "/assets/")):
            response.headers["Cache-Control"] = "no-store"
        return response

    server.before_request(before)
    server.after_request(after)


def _let_in(doors: Doors) -> AnyResponse:
    """The same address without the token, which so stays out of history and links; the cookie stands for it."""
    rest = "&".join(
        part for part in request.query_string.decode("latin-1").split("&") if not part.startswith(f"{ASKED}=")
    )
    path = "/" + request.path.lstrip("/")  # never another host's, as in //name
    response = redirect(f"{path}?{rest}" if rest else path)
    response.set_cookie(
        doors.cookie, doors.pass_value, max_age=MAX_AGE_S, httponly=True, samesite="Lax", secure=request.is_secure
    )
    return response


def _policy(scripts: Sequence[str]) -> dict[str, str]:
    """Dash and Plotly add style elements while they run; all else comes from here, and nothing from elsewhere."""
    sources = {
        "default-src": "'none'",
        "script-src": " ".join(("'self'", *scripts)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in sources.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


def _same(given: str, wanted: str) -> bool:
    """Compared in a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _name(host_header: str) -> str:
    """The name in a Host header, without the port."""
    header = host_header.strip().casefold()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
