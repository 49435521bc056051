"""A broker and a registry that run together for as long as somebody needs them.

Used by tests, by demonstrations and by `background`, which keeps one for `eml local up`. Calls `broker` and
`registry`. It knows nothing of topics, schemas or Flink.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from eml.local import broker as brokers
from eml.local import registry as registries
from eml.local.broker import Broker
from eml.local.errors import LocalError, UnreachableError
from eml.local.registry import Registry


class Stack:
    """The addresses of a broker and a registry, and the processes of those that are started here."""

    def __init__(
        self,
        folder: Path,
        bootstrap_servers: str | None = None,
        registry_url: str | None = None,
        *,
        broker_port: int | None = None,
        registry_port: int | None = None,
        scratch: Path | None = None,
    ) -> None:
        self._broker = None if bootstrap_servers else Broker(folder, broker_port, scratch)
        self.bootstrap_servers: str = bootstrap_servers or self.broker.bootstrap_servers
        self._registry = None if registry_url else self._new_registry(folder, registry_port, scratch)
        self.registry_url: str = registry_url or self.registry.url

    def _new_registry(self, folder: Path, port: int | None, scratch: Path | None) -> Registry:
        """The broker ends after the registry, so it is the broker's business to remove the folder if there is one."""
        return Registry(folder, self.bootstrap_servers, port, None if self._broker else scratch)

    @property
    def broker(self) -> Broker:
        """The broker's process, to stop and start it."""
        if self._broker is None:
            raise LocalError(f"The broker at {self.bootstrap_servers} was given by address; stop it where it runs.")
        return self._broker

    @property
    def registry(self) -> Registry:
        """The registry's process, to stop and start it."""
        if self._registry is None:
            raise LocalError(f"The registry at {self.registry_url} was given by address; stop it where it runs.")
        return self._registry

    @property
    def processes(self) -> list[Broker | Registry]:
        """Those started here, in the order of their start."""
        return [process for process in (self._broker, self._registry) if process is not None]

    def start(self) -> None:
        """Start what has no address yet and wait until it is healthy; check the rest."""
        check_given(
            self.bootstrap_servers if self._broker is None else None,
            self.registry_url if self._registry is None else None,
        )
        for process in self.processes:
            process.start()

    def stop(self) -> None:
        """Stop what was started here, the registry first: it writes to the broker."""
        with ExitStack() as stops:  # stops the broker also where the registry's stop was interrupted
            for process in self.processes:
                stops.callback(process.stop)


def check_given(bootstrap_servers: str | None, registry_url: str | None) -> None:
    """Raise where a broker or a registry that is named by its address does not answer."""
    if bootstrap_servers and not brokers.answers(bootstrap_servers):
        raise UnreachableError(f"No Kafka broker answers at {bootstrap_servers}. Start it, or leave the address out.")
    if registry_url and not registries.answers(registry_url):
        raise UnreachableError(f"No registry answers at {registry_url}/subjects. Start it, or leave the URL out.")


@contextmanager
def running(
    folder: Path | None = None, bootstrap_servers: str | None = None, registry_url: str | None = None
) -> Iterator[Stack]:
    """A healthy stack: a part with an address is checked and used, the others are started and stopped here.

    Data and logs are in `folder`, or in a temporary one. Nothing outlives the caller, also when that is killed.
    """
    with ExitStack() as leaving:
        scratch = None
        if bootstrap_servers and registry_url:
            folder = folder or Path()  # nothing starts here, so nothing is written
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="eml-stack-", ignore_cleanup_errors=True)
            folder = scratch = Path(leaving.enter_context(temporary))
        stack = Stack(folder, bootstrap_servers, registry_url, scratch=scratch)
        leaving.callback(stack.stop)
        stack.start()
        yield stack
