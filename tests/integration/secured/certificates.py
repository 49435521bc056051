"""Certificates of a test: an authority of its own, one for the servers on loopback, one for a client.

Made with the `openssl` command, which every machine with Kafka tools has; used by the secured stack.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
DAYS = ("-days", "2")
SERVER = "subjectAltName=IP:127.0.0.1,DNS:localhost"


@dataclass(frozen=True)
class Certificate:
    """Two PEM files."""

    certificate: Path
    key: Path

    @property
    def both(self) -> Path:
        """Key and certificate in one file, as Kafka's PEM key stores want it."""
        file = self.key.with_suffix(".both.pem")
        file.write_text(self.key.read_text() + self.certificate.read_text())
        return file


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._own = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
        self.file = self._own.certificate
        folder.mkdir(parents=True, exist_ok=True)
        _openssl("req", "-x509", *KEY, *DAYS, "-subj", f"/CN={name}", "-keyout", self._own.key, "-out", self.file)

    def issue(self, name: str, extension: str = SERVER) -> Certificate:
        """A certificate signed by this authority."""
        issued = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        signer = ("-CA", self.file, "-CAkey", self._own.key, "-addext", extension)
        _openssl("req", "-x509", *KEY, *DAYS, *signer, "-subj", f"/CN={name}", "-keyout", issued.key, "-out",
                 issued.certificate)  # fmt: skip
        return issued


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30)  # noqa: S603, S607
