"""Requests to a schema registry: what is sent, and what an answer's status means.

Called by `connection`; calls `credentials` for the session. Knows addresses and statuses, not schemas. Answers are
bounded in size and time, redirects are not followed (credentials would go with them), and no message shows a secret.
"""

import json
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import requests
import urllib3

from eml.settings import RegistrySettings
from eml.stream.errors import RegistryRefusedError
from eml.stream.registry.credentials import Credentials, User

PIECE = 65_536  # bytes read at once


class AnswerError(Exception):
    """No usable answer: the registry is down or overloaded, or its address is that of another service."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The registry's answer."""

    status: int
    body: Any  # JSON, read; None where it was none
    too_long: bool = False  # then there is no body

    @property
    def message(self) -> str:
        """The registry's own error message."""
        said = self.body.get("message") if isinstance(self.body, dict) else None
        return f"{self.status}: {str(said)[:500]}" if said else str(self.status)


class RegistryHttp:
    """A registry's address, and how to ask there."""

    def __init__(self, settings: RegistrySettings, longest_body: int) -> None:
        self._timeout_s = settings.timeout_ms / 1000
        self._longest_body = longest_body
        self.url, user, password = _split_user(settings.url)
        self._credentials = Credentials(settings, User(user, password), tls=self.url.startswith("https:"))

    def close(self) -> None:
        """Close the connection."""
        self._credentials.close()

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """Send a request; AnswerError: no usable answer; RegistryRefusedError: our credentials are refused."""
        self._credentials.refresh()
        try:
            return self._ask(method, path, body)
        except RegistryRefusedError:
            # Only with other credentials than those that were refused: too many failures may lock an account.
            if not self._credentials.refresh(force=True):
                raise
        return self._ask(method, path, body)

    def _ask(self, method: str, path: str, body: object) -> Answer:
        deadline = time.monotonic() + self._timeout_s
        try:
            with self._credentials.session.request(
                method, self.url + path, json=body, timeout=self._timeout_s, allow_redirects=False, stream=True
            ) as response:
                received = self._receive(response, deadline)
        except (OSError, urllib3.exceptions.HTTPError) as error:  # requests' own errors are OSErrors, too
            why = _cause(error)  # the error itself may quote what was sent
            raise AnswerError(f"no answer: {why} (does it run, and is registry.url right?)") from None
        return self._judged(response.status_code, received)

    def _receive(self, response: requests.Response, deadline: float) -> bytes | None:
        """The body, or None where it is too long. A server that sends it slowly is left at the deadline."""
        received = bytearray()
        while piece := response.raw.read1(PIECE, decode_content=False):
            received += piece
            if len(received) > self._longest_body:
                return None
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(received)

    def _judged(self, status: int, received: bytes | None) -> Answer:
        """The answer, where its status is one that a caller handles."""
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise RegistryRefusedError(
                f"{self.url} refuses us ({status}): look at registry.username and registry.password (or "
                "password_file), at registry.bearer_token (or bearer_token_file), or at registry.certificate_file and "
                "registry.key_file, and what they may do",
                forbidden=status == HTTPStatus.FORBIDDEN,
            )
        if 300 <= status < 400:
            raise AnswerError(f"it sends us elsewhere ({status}): name the new address in registry.url")
        if status >= 500 or status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS):
            raise AnswerError(f"it answers {status}")
        if received is None:
            return Answer(status, None, too_long=True)
        try:
            return Answer(status, json.loads(received))
        except (ValueError, RecursionError):
            if status >= 400:
                return Answer(status, None)
            raise AnswerError(f"it answers {status} with something that is no JSON") from None


def _split_user(url: str) -> tuple[str, str | None, str | None]:
    """The address without its secrets, and the user and password that it contained."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong:  # and not shown: it may hold a password
        raise RegistryRefusedError("registry.url must be http://host:port/path or https://host:port/path")
    host = parts.netloc.rpartition("@")[2]
    user, password = (unquote(part) if part else None for part in (parts.username, parts.password))
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), user, password


def _cause(error: Exception) -> str:
    """Why there is no answer, in a few words that contain nothing of the request."""
    if isinstance(error, requests.exceptions.SSLError):
        return f"{_innermost(error)} (look at registry.ca_file, registry.certificate_file and registry.key_file)"
    if isinstance(error, (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "it takes longer than registry.timeout_ms"
    if isinstance(error, (requests.ConnectionError, urllib3.exceptions.HTTPError)):
        return _innermost(error)
    return type(error).__name__


def _innermost(error: Exception) -> str:
    inner = error.args[0] if error.args else error
    reason = getattr(inner, "reason", inner)
    system = getattr(reason, "__cause__", None)  # "connection refused" says more than urllib3 does around it
    return str((isinstance(system, OSError) and system.strerror) or reason)[:300]
