"""Credentials for a registry: a session with its secrets and certificates, made anew when their files change.

Used by `http_client` alone. Secrets that stand in files are read when a session is made, so a secret that is rotated
on disk is used from the next question on. Knows no question and no answer; no message shows a secret.
"""

import logging
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth

from eml.settings import RegistrySettings
from eml.stream.errors import RegistryRefusedError

log = logging.getLogger(__name__)

HEADERS = {
    "Accept": "application/vnd.schemaregistry.v1+json, application/json",
    "Accept-Encoding": "identity",  # a compressed answer could be of any size
    "User-Agent": "eml",
}
FILES = ("password_file", "bearer_token_file", "ca_file", "certificate_file", "key_file")
# Names a file's content without its content: a rename (Kubernetes swaps a link) changes the inode.
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class User:
    """Name and password from the registry's address."""

    name: str | None
    password: str | None


class Credentials:
    """The settings' secrets and certificates, as they are on disk now."""

    def __init__(self, settings: RegistrySettings, user: User, *, tls: bool) -> None:
        self._settings = settings
        self._user = user
        self._tls = tls
        self._files = {name: path for name in FILES if (path := getattr(settings, name))}
        self._told: tuple[Stamp | None, ...] | None = None  # the state of the files that was complained of
        self._stamps = self._look()
        contents = self._read_all()
        self._digest = _digest(contents)
        self.session = self._new_session(contents)

    def close(self) -> None:
        """Close the connection."""
        self.session.close()

    def refresh(self, *, force: bool = False) -> bool:
        """Take what changed on disk; whether that gives other credentials.

        `force`: look into the files even where they seem to be the same. Files that cannot be used, as they may be in
        the middle of a rotation, leave the session as it is.
        """
        stamps = self._look()
        if not self._files or (stamps == self._stamps and not force):
            return False
        try:
            contents = self._read_all()
            if _digest(contents) == self._digest:
                self._stamps = stamps
                return False
            session = self._new_session(contents)
        except RegistryRefusedError as error:
            if stamps != self._told:
                log.warning("the credentials on disk changed but cannot be used, the former ones stay: %s", error)
                self._told = stamps
            return False
        self.session.close()
        self.session, self._digest, self._stamps = session, _digest(contents), stamps
        log.info(
            "the registry's credentials were read again: %s", ", ".join(f"registry.{name}" for name in self._files)
        )
        return True

    # -- files -----------------------------------------------------------------------------------------------------

    def _look(self) -> tuple[Stamp | None, ...]:
        return tuple(_stamp(path) for path in self._files.values())

    def _read_all(self) -> dict[str, bytes]:
        found = {}
        for name, path in self._files.items():
            try:
                found[name] = Path(path).read_bytes()
            except OSError as error:
                raise RegistryRefusedError(f"registry.{name}: cannot read {path} ({error.strerror})") from None
        return found

    def _secret(self, name: str, contents: Mapping[str, bytes]) -> str | None:
        """A secret as it stands in its file, or else as it was given."""
        setting = f"{name}_file"
        if setting not in contents:
            given: str | None = getattr(self._settings, name)
            return given
        try:
            secret = contents[setting].decode().strip()
        except UnicodeDecodeError:
            secret = ""
        if not secret:
            raise RegistryRefusedError(f"registry.{setting}: {self._files[setting]} is empty, or not UTF-8 text")
        return secret

    # -- the session -----------------------------------------------------------------------------------------------

    def _new_session(self, contents: Mapping[str, bytes]) -> requests.Session:
        settings = self._settings
        session = requests.Session()
        session.trust_env = False  # a .netrc would replace our credentials
        session.headers.update(HEADERS)
        token = self._secret("bearer_token", contents)
        if token:
            session.headers["Authorization"] = f"Bearer {_checked_token(token)}"
        elif settings.username:
            session.auth = _basic(settings.username, self._secret("password", contents))
        elif self._user.name:
            session.auth = _basic(self._user.name, self._user.password)
        if self._tls:
            session.mount("https://", _TlsAdapter(_tls(settings)))
        return session


class _TlsAdapter(HTTPAdapter):
    """Connections with our own TLS context instead of the one that requests makes."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  as in the base class
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)


def _tls(settings: RegistrySettings) -> ssl.SSLContext:
    """The TLS context: authorities we trust and the certificate we present."""
    context = ssl.create_default_context()
    try:
        if settings.ca_file:
            context.load_verify_locations(settings.ca_file)
        if settings.certificate_file:
            # An empty password: OpenSSL would ask for one at the terminal.
            context.load_cert_chain(settings.certificate_file, settings.key_file, password="")
    except OSError as error:  # an SSLError is one
        raise RegistryRefusedError(
            "registry.ca_file, registry.certificate_file or registry.key_file cannot be used (they must be PEM files, "
            f"without a password): {error}"
        ) from None
    return context


def _digest(contents: Mapping[str, bytes]) -> bytes:
    """A hash, to compare contents without keeping them."""
    return sha256(b"".join(sha256(each).digest() for each in contents.values())).digest()


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116  follows links, as reading does
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _basic(name: str, secret: str | None) -> HTTPBasicAuth:
    return HTTPBasicAuth(name.encode(), (secret or "").encode())


def _checked_token(token: str) -> str:
    token = token.strip()  # files end in a line break
    if not token.isascii() or not token.isprintable() or " " in token:
        raise RegistryRefusedError(
            "registry.bearer_token, or the file that registry.bearer_token_file names, holds characters no token has"
        )
    return token
