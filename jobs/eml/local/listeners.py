"""What kind of listener stands at a broker's address: Kafka's or another, with TLS, without, or none.

Called by the job before anything else starts (`check`), by its start check (`flink.topics`) and by `topic_reader`: a
Kafka client that speaks plain text to a TLS listener, or the other way round, is not told so, and asks again until its
time is up. Knows sockets, and of Kafka one request.
"""

import re
import socket
import ssl
import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from eml.local.errors import UnreachableError
from eml.settings import KafkaSettings

TIMEOUT_S = 3.0
PLAIN = ("PLAINTEXT", "SASL_PLAINTEXT")
API_VERSIONS = struct.pack(
    ">ihhih", 10, 18, 0, 1, -1
)  # Kafka's first request: which versions it speaks; anyone may ask


def check(kafka: KafkaSettings) -> None:
    """Raise, in a few seconds, where none of the addresses has a Kafka listener that speaks as the settings say."""
    servers = [server.strip() for server in kafka.bootstrap_servers.split(",")]
    with ThreadPoolExecutor(len(servers)) as pool:
        problems = list(pool.map(partial(_problem, kafka), servers))
    if all(problems):
        raise UnreachableError(problems[0])


def _problem(kafka: KafkaSettings, server: str) -> str | None:
    """What is wrong with one address."""
    try:
        connect(server).close()
    except OSError as error:
        return (
            f"no answer from the brokers at {server} ({_reason(error)}): start Kafka there, or correct"
            " kafka.bootstrap_servers (`eml local up` starts a broker on this machine)"
        )
    wrong = _mismatch(kafka, server, tls=speaks_tls(server))
    if wrong is None and _protocol(kafka) in PLAIN and not speaks_kafka(server):
        return f"what answers at {server} is no Kafka broker: name the brokers' host:port in kafka.bootstrap_servers"
    return wrong


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    if isinstance(error, TimeoutError):
        return f"no connection in {TIMEOUT_S:.0f} s"
    return (error.strerror or str(error)).lower()


def connect(server: str) -> socket.socket:
    """A connection to host:port."""
    host, _, port = server.rpartition(":")
    return socket.create_connection((re.sub(r"[\[\]]", "", host), int(port)), TIMEOUT_S)


def speaks_kafka(server: str) -> bool:
    """Whether a plain listener answers Kafka's first request; True where it takes too long to tell."""
    try:
        with connect(server) as connection:
            connection.sendall(API_VERSIONS)
            return connection.recv(8)[4:] == API_VERSIONS[8:12]  # the number of the request, behind the length
    except TimeoutError:
        return True
    except OSError:
        return False


def mismatch(kafka: KafkaSettings) -> str | None:
    """What is wrong between security.protocol and the first listener that answers; None where all seems well."""
    for server in kafka.bootstrap_servers.split(","):
        tls = speaks_tls(server.strip())
        if tls is not None:
            return _mismatch(kafka, server.strip(), tls=tls)
    return None


def _mismatch(kafka: KafkaSettings, server: str, *, tls: bool | None) -> str | None:
    protocol = _protocol(kafka)
    if tls is True and protocol in PLAIN:
        return (
            f"the listener at {server} speaks TLS, but security.protocol is {protocol}: set security.protocol in"
            " [kafka.properties] to SASL_SSL (users with passwords or tokens) or SSL, or name another listener"
        )
    if tls is False and protocol not in PLAIN:
        return (
            f"the listener at {server} does not speak TLS, but security.protocol is {protocol}: name the TLS"
            " listener's port in kafka.bootstrap_servers, or set security.protocol to SASL_PLAINTEXT or PLAINTEXT"
        )
    return None


def _protocol(kafka: KafkaSettings) -> str:
    return kafka.properties.get("security.protocol", PLAIN[0]).upper()


def speaks_tls(server: str) -> bool | None:
    """Whether a listener answers a TLS handshake; None where nobody listens or nothing is said in time."""
    host = server.rpartition(":")[0]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent: who it is does not matter
    try:
        with (
            connect(server) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return True
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionResetError, BrokenPipeError):
        return False  # Kafka takes the greeting for a request of impossible length, and hangs up
    except ssl.SSLError as error:
        return error.reason not in ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING")  # else an alert: TLS
    except OSError:
        return None
