"""A schema registry with Confluent's API (Apicurio) as a process on this machine.

Started by `stack` after the broker, in a topic of which it keeps all schemas; calls `jars` and `java`. Nothing else in
EML knows which product it is: clients see a URL.
"""

import http.client
from pathlib import Path
from urllib.parse import urlsplit

from eml.local.jars import jars
from eml.local.java import java_of_registry
from eml.local.process import LOOPBACK, Process, free_port

API = "/apis/ccompat/v7"
ANSWER_TIMEOUT_S = 3.0


def answers(url: str) -> bool:
    """Whether a registry with Confluent's API answers at this URL."""
    import requests  # noqa: PLC0415  an optional extra

    with requests.Session() as session:
        session.trust_env = urlsplit(url).hostname not in (LOOPBACK, "localhost")  # no proxy for this machine
        try:
            return session.get(f"{url.rstrip('/')}/subjects", timeout=ANSWER_TIMEOUT_S).ok
        except requests.RequestException:
            return False


class Registry(Process):
    """The registry, its schemas in the broker's topic `kafkasql-journal`."""

    name = "registry"
    timeout_s = 120.0  # it takes 6 s; a busy machine takes longer
    grace_s = 4.0  # half a second is enough, but with the broker gone it waits in vain; all it has is in the broker

    def __init__(
        self, folder: Path, bootstrap_servers: str, port: int | None = None, scratch: Path | None = None
    ) -> None:
        self.port = free_port() if port is None else port
        self._management_port = free_port()
        super().__init__(folder, (self.port, self._management_port), scratch)
        self._bootstrap_servers = bootstrap_servers

    @property
    def url(self) -> str:
        """Address of the Confluent API."""
        return f"http://{LOOPBACK}:{self.port}{API}"

    def healthy(self) -> bool:
        """Whether it calls itself ready: before that it answers, but with what it has replayed so far."""
        connection = http.client.HTTPConnection(LOOPBACK, self._management_port, timeout=ANSWER_TIMEOUT_S)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def command(self) -> list[str]:
        """Return the registry's command."""
        options = {
            "quarkus.http.host": LOOPBACK,
            "quarkus.http.port": self.port,
            "quarkus.management.host": LOOPBACK,
            "quarkus.management.port": self._management_port,
            "apicurio.storage.kind": "kafkasql",
            "apicurio.kafkasql.bootstrap.servers": self._bootstrap_servers,
            # It waits that long, three times, for the end of topics that have none, on its way up; 5000 by default.
            "apicurio.kafkasql.consumer.poll.timeout": 500,
            "quarkus.http.access-log.enabled": "false",  # a line per look-up fills the disk
            "apicurio.ccompat.max-subjects": 100_000,  # a list of subjects is cut there; its default is 1000
        }
        # The first compiler only and the simplest collector: ready sooner, and it never has much to do.
        memory = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        settings = [f"-D{key}={value}" for key, value in options.items()]
        return [str(java_of_registry()), *memory, *settings, "-jar", str(jars("registry") / "quarkus-run.jar")]
