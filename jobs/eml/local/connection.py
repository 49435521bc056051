"""[kafka.properties], which are those of Java's client, as librdkafka spells them.

Called by `topic_reader`. Takes what says how to connect and log in; the rest tunes the job. What cannot be said to
librdkafka is an error that says what to do; no message shows a value.
"""

import re
from collections.abc import Mapping
from typing import NoReturn

from eml.local.errors import CaptureError

PREFIXES = ("security.", "sasl.", "ssl.", "client.", "socket.", "broker.")
JAAS = "sasl.jaas.config"
ENTRY = re.compile(r"\s*([\w.$]+)\s+\w+\s+(.*?);?\s*", re.DOTALL)  # module, control flag, options
OPTION = re.compile(r"""(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;"']+)""")
WITH_PASSWORD = ("ScramLoginModule", "PlainLoginModule")
RENAMED = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
}
STORES = ("ssl.truststore.", "ssl.keystore.")
PEM, PKCS12, JAVA = "PEM", "PKCS12", "JKS"


def librdkafka_properties(java: Mapping[str, str]) -> dict[str, str]:
    """The same connection for librdkafka; what is librdkafka's own already stays."""
    kept = {name: value for name, value in java.items() if name.startswith(PREFIXES)}
    renamed = {RENAMED.get(name, name): value for name, value in kept.items()}
    renamed |= _user(renamed.pop(JAAS, None))
    stores = {name: renamed.pop(name) for name in list(renamed) if name.startswith(STORES)}
    renamed |= _trusted(stores) | _shown(stores)
    if renamed.get("ssl.endpoint.identification.algorithm") == "":
        renamed["ssl.endpoint.identification.algorithm"] = "none"
    return renamed


def _user(jaas: str | None) -> dict[str, str]:
    if jaas is None:
        return {}
    entry = ENTRY.fullmatch(jaas)
    if entry is None or not entry[1].endswith(WITH_PASSWORD):
        _refuse(JAAS, "is not one entry of ScramLoginModule or PlainLoginModule", "librdkafka's own sasl.* properties")
    options = {name: _unquoted(value) for name, value in OPTION.findall(entry[2])}
    if not {"username", "password"} <= options.keys():
        _refuse(JAAS, "has no username and password", 'username="..." password="..." in it')
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "\"'" else text


def _trusted(stores: Mapping[str, str]) -> dict[str, str]:
    location = stores.get("ssl.truststore.location")
    if location is None:
        return {}
    if stores.get("ssl.truststore.type", JAVA).upper() != PEM:
        _refuse("ssl.truststore.location", "is no PEM file", "ssl.ca.location with the authority's certificate as PEM")
    return {"ssl.ca.location": location}


def _shown(stores: Mapping[str, str]) -> dict[str, str]:
    location = stores.get("ssl.keystore.location")
    kind = stores.get("ssl.keystore.type", JAVA).upper()
    if location is None:
        return {}
    if kind == PEM:  # one file with key and certificates
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind != PKCS12:
        advice = "ssl.certificate.location and ssl.key.location with PEM files"
        _refuse("ssl.keystore.location", "is neither a PEM nor a PKCS12 file", advice)
    password = {name: stores[name] for name in ("ssl.keystore.password",) if name in stores}
    return {"ssl.keystore.location": location, **password}


def _refuse(name: str, what: str, instead: str) -> NoReturn:
    raise CaptureError(
        f"[kafka.properties] {name} {what}: this command reads with librdkafka, not with Java's client. Give it"
        f" settings of its own (--settings) with {instead} instead."
    )
