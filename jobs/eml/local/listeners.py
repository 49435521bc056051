"""What kind of listener stands at a broker's address: with TLS, without, or none.

Called by the job's start check (`flink.topics`) and by `topic_reader`: a Kafka client that speaks plain text to a TLS
listener, or the other way round, is not told so, and asks again until its time is up. Knows sockets, no Kafka.
"""

import re
import socket
import ssl

from eml.settings import KafkaSettings

TIMEOUT_S = 3.0
PLAIN = ("PLAINTEXT", "SASL_PLAINTEXT")


def mismatch(kafka: KafkaSettings) -> str | None:
    """What is wrong between security.protocol and the first listener that answers; None where all seems well."""
    protocol = kafka.properties.get("security.protocol", PLAIN[0]).upper()
    for server in kafka.bootstrap_servers.split(","):
        tls = speaks_tls(server.strip())
        if tls is None:
            continue
        if tls and protocol in PLAIN:
            return (
                f"the listener at {server} speaks TLS, but security.protocol is {protocol}: set security.protocol in"
                " [kafka.properties] to SASL_SSL (users with passwords or tokens) or SSL, or name another listener"
            )
        if not tls and protocol not in PLAIN:
            return (
                f"the listener at {server} does not speak TLS, but security.protocol is {protocol}: name the TLS"
                " listener's port in kafka.bootstrap_servers, or set security.protocol to SASL_PLAINTEXT or PLAINTEXT"
            )
        return None
    return None


def speaks_tls(server: str) -> bool | None:
    """Whether a listener answers a TLS handshake; None where nobody listens or nothing is said in time."""
    host, _, port = server.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent: who it is does not matter
    try:
        with (
            socket.create_connection((re.sub(r"[\[\]]", "", host), int(port)), TIMEOUT_S) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return True
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionResetError, BrokenPipeError):
        return False  # Kafka takes the greeting for a request of impossible length, and hangs up
    except ssl.SSLError as error:
        return error.reason not in ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING")  # else an alert: TLS
    except OSError:
        return None
