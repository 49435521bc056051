"""The Kafka clients inside Flink's connector: their properties, their classes, their errors.

Called by `pipeline` for the tables and by `topics` and `rights` for the checks, so that all connect in the same way.
Knows how the connector packs its client; opens no connection.
"""

import re
from typing import Any

from pyflink.java_gateway import get_gateway

from eml.settings import KafkaSettings

# The connector's jar has Kafka's classes under other names. Users write the names that Kafka's documentation has.
SHADED = "org.apache.flink.kafka.shaded."
KAFKA = "org.apache.kafka."
HOLDS_CLASSES = (".class", ".classes", ".reporters", ".strategy", ".providers")  # ends of property names
QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')


def properties(kafka: KafkaSettings) -> dict[str, str]:
    """[kafka.properties] with the address, and with the names of Kafka's classes as the connector has them."""
    return {
        "bootstrap.servers": kafka.bootstrap_servers,
        **{name: _shaded(name, value) for name, value in kafka.properties.items()},
    }


def _shaded(name: str, value: str) -> str:
    if name.endswith("sasl.jaas.config"):
        return _shaded_modules(value)
    if name.endswith(HOLDS_CLASSES):
        return ",".join(_shaded_class(each) for each in value.split(","))
    return value


def _shaded_modules(jaas: str) -> str:
    """A login module begins each entry; a password in quotes may hold anything, also a semicolon, and stays."""
    pieces = QUOTED.split(f";{jaas}")  # every second piece stands in quotes
    pieces[::2] = [";".join([head, *map(_shaded_class, rest)]) for head, *rest in (p.split(";") for p in pieces[::2])]
    return "".join(pieces)[1:]


def _shaded_class(text: str) -> str:
    blank = text[: len(text) - len(text.lstrip())]
    return f"{blank}{SHADED}{text.lstrip()}" if text.lstrip().startswith(KAFKA) else text


def java_class(name: str) -> Any:  # noqa: ANN401  a Java class
    """A class of the connector's Kafka client, by its name behind org.apache.kafka."""
    found = get_gateway().jvm
    for part in f"{SHADED}{KAFKA}{name}".split("."):
        found = getattr(found, part)
    return found


def cause(error: Exception) -> str:
    """The innermost message of a Java exception, without its stack and the packing of its class."""
    return _innermost(error)[1]


def cause_class(error: Exception) -> str:
    """The class of the innermost Java exception, without its package."""
    return _innermost(error)[0]


def _innermost(error: Exception) -> tuple[str, str]:
    java = getattr(error, "java_exception", None)
    if java is None:
        return type(error).__name__, str(error)
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getClass().getSimpleName()), str(java.toString()).replace(SHADED, "")
