"""Kafka's classes by the names that the connector has for them."""

from eml.flink.client import SHADED, properties
from eml.settings import KafkaSettings

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def shaded(name: str, value: str) -> str:
    return properties(KafkaSettings(bootstrap_servers="broker:9092", properties={name: value}))[name]


def test_a_login_module_gets_the_connectors_name_and_its_options_stay():
    jaas = f'{SCRAM} required username="org.apache.kafka.x" password="a;org.apache.kafka.b\\";org.apache.kafka.c";'
    assert shaded("sasl.jaas.config", jaas) == SHADED + jaas


def test_each_entry_is_renamed_and_what_is_not_kafkas_stays():
    other = "com.example.Module required;"
    assert shaded("sasl.jaas.config", f"{other} {SCRAM} required;") == f"{other} {SHADED}{SCRAM} required;"
    assert shaded("sasl.jaas.config", f" {SHADED}{SCRAM} required;") == f" {SHADED}{SCRAM} required;"


def test_properties_that_name_classes():
    one, two = "org.apache.kafka.A", "com.example.B"
    assert shaded("interceptor.classes", f"{two}, {one}") == f"{two}, {SHADED}{one}"
    assert shaded("client.id", one) == one
