"""Java's properties in librdkafka's words."""

import pytest

from eml.local.connection import librdkafka_properties
from eml.local.errors import CaptureError

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def test_a_user_and_a_trusted_authority():
    java = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{SCRAM} required username="eml" password="a\\"b;c=d e";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/tls/ca.pem",
        "ssl.endpoint.identification.algorithm": "",
        "max.poll.records": "10",  # tunes the job
    }
    assert librdkafka_properties(java) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "eml",
        "sasl.password": 'a"b;c=d e',
        "ssl.ca.location": "/tls/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_pem_in_the_properties_themselves():
    java = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "CA", "ssl.keystore.key": "KEY",
            "ssl.keystore.certificate.chain": "CERTIFICATE", "ssl.key.password": "secret"}  # fmt: skip
    assert librdkafka_properties(java) == {
        "ssl.ca.pem": "CA",
        "ssl.key.pem": "KEY",
        "ssl.certificate.pem": "CERTIFICATE",
        "ssl.key.password": "secret",
    }


def test_key_stores_as_files():
    pem = {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/both.pem"}
    assert librdkafka_properties(pem) == {"ssl.certificate.location": "/both.pem", "ssl.key.location": "/both.pem"}
    pkcs = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/a.p12", "ssl.keystore.password": "secret"}
    assert librdkafka_properties(pkcs) == {"ssl.keystore.location": "/a.p12", "ssl.keystore.password": "secret"}


def test_what_is_librdkafkas_already_stays():
    own = {"sasl.username": "eml", "sasl.password": "secret", "ssl.ca.location": "/ca.pem"}
    assert librdkafka_properties(own) == own


@pytest.mark.parametrize(
    ("java", "said"),
    [
        ({"sasl.jaas.config": "com.sun.Krb5LoginModule required secret=hunter2;"}, "sasl.jaas.config is not one entry"),
        ({"sasl.jaas.config": f"{SCRAM} required password=hunter2;"}, "has no username and password"),
        ({"sasl.jaas.config": "hunter2"}, "sasl.jaas.config is not one entry"),
        ({"ssl.truststore.location": "/hunter2.jks"}, "ssl.truststore.location is no PEM file"),
        ({"ssl.keystore.location": "/hunter2.jks"}, "ssl.keystore.location is neither a PEM nor a PKCS12"),
    ],
)
def test_what_cannot_be_said_is_named_without_its_value(java, said):
    with pytest.raises(CaptureError, match=said) as error:
        librdkafka_properties(java)
    assert "hunter2" not in str(error.value)
