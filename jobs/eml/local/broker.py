"""A Kafka broker of one node (KRaft) as a process on this machine.

Started by `stack`; calls `jars` and `java`. Meant for tries and tests: one copy of everything, loopback only.
"""

import base64
import shutil
import socket
import subprocess
import uuid
from pathlib import Path

from eml.local.errors import StartError
from eml.local.jars import jars
from eml.local.java import java
from eml.local.process import LOG_LINES, LOOPBACK, Process, free_port

FORMAT_TIMEOUT_S = 60
ANSWER_TIMEOUT_S = 3.0


def answers(bootstrap_servers: str) -> bool:
    """Whether a Kafka broker answers a metadata request at one of these addresses."""
    from confluent_kafka import KafkaException  # noqa: PLC0415  an optional extra
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": bootstrap_servers,
        "log_level": 0,  # a broker that is not there is an answer, no line on the standard error
        "socket.timeout.ms": 2_000,
    }
    try:
        return bool(AdminClient(settings).list_topics(timeout=ANSWER_TIMEOUT_S).brokers)
    except KafkaException:
        return False


class Broker(Process):
    """The broker and its controller in one process; its data in `folder/kafka`."""

    name = "broker"
    timeout_s = 90.0  # it takes 5 s; a busy machine takes longer
    grace_s = 15.0  # it takes one second to write out its logs; without, the next start reads them all

    def __init__(self, folder: Path, port: int | None = None, scratch: Path | None = None) -> None:
        self.port = free_port() if port is None else port
        self._controller_port = free_port()
        super().__init__(folder, (self.port, self._controller_port), scratch)
        self._data = self.folder / "kafka"

    @property
    def bootstrap_servers(self) -> str:
        """Address for clients."""
        return f"{LOOPBACK}:{self.port}"

    def healthy(self) -> bool:
        """Whether it answers with metadata; a refused connection is told apart at once, without a client."""
        try:
            socket.create_connection((LOOPBACK, self.port), timeout=1).close()
        except OSError:
            return False
        return answers(self.bootstrap_servers)

    def command(self) -> list[str]:
        """Write the properties, format new storage, and return the broker's command."""
        properties = self.folder / "server.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in self.properties().items()))
        if not self._formatted.is_file():
            self._format(properties)
        # The level is that of log4j's own default configuration, which writes to the standard output.
        return [*self._java("-Xms256m", "-Xmx1g", "-Dlog4j2.level=INFO"), "kafka.Kafka", str(properties)]

    @property
    def _formatted(self) -> Path:
        return self.folder / "kafka.formatted"

    def _java(self, *options: str) -> list[str]:
        return [str(java()), *options, "-cp", f"{jars('broker')}/*"]

    def _format(self, properties: Path) -> None:
        """Format the storage; what an interrupted format left is dropped, no broker ever ran on it."""
        shutil.rmtree(self._data, ignore_errors=True)
        # Kafka's form of an id; the fixed first byte keeps it from starting with a dash, which reads as an option.
        cluster = base64.urlsafe_b64encode(b"\x10" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties), *self.format_options()]
        try:
            done = subprocess.run(  # noqa: S603  ours
                [*self._java("-Xmx256m"), *tool], capture_output=True, text=True, timeout=FORMAT_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise StartError(f"Formatting the broker's storage took over {FORMAT_TIMEOUT_S} s.") from error
        if done.returncode:
            end = "\n".join((done.stdout + done.stderr).splitlines()[-LOG_LINES:])
            raise StartError(f"The broker's storage in {self._data} could not be formatted.\n{end}")
        self._formatted.write_text(f"{cluster}\n")

    def format_options(self) -> list[str]:
        """Further options for formatting new storage; a subclass adds its users here."""
        return []

    def properties(self) -> dict[str, object]:
        """The broker's properties; a subclass adds its listeners and its authorizer here."""
        client, controller = self.bootstrap_servers, f"{LOOPBACK}:{self._controller_port}"
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{client},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAINTEXT://{client}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self._data,
            "auto.create.topics.enable": "false",  # as in production: a missing topic is a mistake to be seen
            # One node holds the only copy.
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # 50 partitions each would be made at the first use, and cost seconds.
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.num.partitions": 4,
            "transaction.max.timeout.ms": 3_600_000,  # Flink's sink asks for up to an hour
            "group.initial.rebalance.delay.ms": 0,
            "controlled.shutdown.enable": "false",  # nobody to hand over to
        }
