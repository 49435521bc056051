"""A broker with SASL_SSL (SCRAM-SHA-512) and its authorizer on, beside the plain listener that tests manage it by."""

from collections.abc import Mapping
from pathlib import Path

from confluent_kafka.admin import AdminClient, _acl, _resource  # `admin` does not name these as its own

from eml.local.broker import Broker
from eml.local.process import LOOPBACK, free_port
from tests.integration.secured.certificates import Certificate

TIMEOUT_S = 20.0
# Whoever comes in by the plain listener: the registry, the test itself and the controller.
SUPER_USERS = "User:ANONYMOUS"
Acl = tuple[str, str, str]  # type of resource, its name (a * at the end: all that begin so), operation


class SecuredBroker(Broker):
    """Its users are made with its storage."""

    def __init__(self, folder: Path, certificate: Certificate, users: Mapping[str, str]) -> None:
        super().__init__(folder)
        self._certificate = certificate
        self._users = users
        self._secured_port = free_port()
        self._ports = (*self._ports, self._secured_port)

    @property
    def secured_servers(self) -> str:
        """The address of the SASL_SSL listener."""
        return f"{LOOPBACK}:{self._secured_port}"

    def format_options(self) -> list[str]:
        return [
            part
            for name, password in self._users.items()
            for part in ("--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]")
        ]

    def properties(self) -> dict[str, object]:
        plain = super().properties()
        return {
            **plain,
            "listeners": f"{plain['listeners']},SECURED://{self.secured_servers}",
            "advertised.listeners": f"{plain['advertised.listeners']},SECURED://{self.secured_servers}",
            "listener.security.protocol.map": f"{plain['listener.security.protocol.map']},SECURED:SASL_SSL",
            "listener.name.secured.ssl.keystore.type": "PEM",
            "listener.name.secured.ssl.keystore.location": self._certificate.both,
            "listener.name.secured.sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.secured.scram-sha-512.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": SUPER_USERS,
        }

    def allow(self, user: str, *acls: Acl) -> None:
        """Give a user rights."""
        admin = self._admin()  # in a variable: with it gone, nobody would wait for the answers
        for answer in admin.create_acls([_binding(_acl.AclBinding, user, acl) for acl in acls]).values():
            answer.result(TIMEOUT_S)

    def take_away(self, user: str, *acls: Acl) -> None:
        """Take rights from a user."""
        admin = self._admin()
        for answer in admin.delete_acls([_binding(_acl.AclBindingFilter, user, acl) for acl in acls]).values():
            assert len(answer.result(TIMEOUT_S)) == 1

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})


def _binding(kind, user: str, acl: Acl):
    resource, name, operation = acl
    pattern = _resource.ResourcePatternType.PREFIXED if name.endswith("*") else _resource.ResourcePatternType.LITERAL
    return kind(
        _resource.ResourceType[resource],
        name.removesuffix("*"),
        pattern,
        f"User:{user}",
        "*",
        _acl.AclOperation[operation],
        _acl.AclPermissionType.ALLOW,
    )
