"""The secured stack: broker with SASL_SSL and ACLs, the registry, certificates, and what a job needs to use them."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from eml.local.registry import Registry
from eml.local.stack import Stack
from tests.integration.harness import Topics
from tests.integration.secured.broker import Acl, SecuredBroker
from tests.integration.secured.certificates import Authority, Certificate

USER = "eml-job"


def canary(what: str) -> str:
    """A secret that is found wherever it is written."""
    return f"canary-{what}-{uuid.uuid4().hex}"


@dataclass
class Secured(Stack):
    """A stack (by its plain addresses, for the test itself) and what it has behind them."""

    bootstrap_servers: str
    registry_url: str
    secured_broker: SecuredBroker
    authority: Authority
    stranger: Authority  # that nobody trusts
    server: Certificate
    client: Certificate  # of the registry's client
    kafka_client: Certificate
    password: str
    folder: Path

    def properties(self, password: str | None = None) -> dict[str, str]:
        """[kafka.properties] as Kafka's own documentation spells them."""
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": f'{module} required username="{USER}" password="{password or self.password}";',
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.file),
        }

    def kafka(self, **more: object) -> dict[str, object]:
        """The section [kafka] of a job here."""
        return {"bootstrap_servers": self.secured_broker.secured_servers, "properties": self.properties(), **more}

    def new_topics(self, labels: str = "") -> Topics:
        """Topics with the least rights for a job on them."""
        topics = Topics.new(self)
        self.secured_broker.allow(USER, *least_acls(topics, labels))
        return topics


def least_acls(topics: Topics, labels: str = "") -> tuple[Acl, ...]:
    """The least that a job on these topics needs; group and transactional ids are named as `harness.Job` does."""
    return (
        ("TOPIC", topics.readings, "READ"),
        *((("TOPIC", labels, "READ"),) if labels else ()),
        ("TOPIC", topics.predictions, "WRITE"),
        ("TOPIC", topics.scores, "WRITE"),
        ("TOPIC", topics.evolutions, "WRITE"),
        ("TOPIC", topics.dead_letters, "WRITE"),
        ("GROUP", topics.predictions, "READ"),
        ("TRANSACTIONAL_ID", f"{topics.predictions}*", "WRITE"),
    )


@contextmanager
def running(folder: Path) -> Iterator[Secured]:
    """The stack, for as long as the tests need it."""
    authority, stranger = Authority(folder / "tls", "authority"), Authority(folder / "tls", "stranger")
    server = authority.issue("server")
    password = canary("kafka-password")
    broker = SecuredBroker(folder, server, {USER: password})
    registry = Registry(folder, broker.bootstrap_servers)
    with ExitStack() as leaving:
        for process in (broker, registry):
            leaving.callback(process.stop)
            process.start()
        yield Secured(
            broker.bootstrap_servers,
            registry.url,
            broker,
            authority,
            stranger,
            server,
            authority.issue("client"),
            authority.issue("kafka-client"),
            password,
            folder,
        )
