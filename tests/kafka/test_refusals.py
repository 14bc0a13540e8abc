"""What is wrong is said at once and by its name, where kafka-python says "timeout" in the end."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import trustme

from localcloud.network import resolve_names
from penstock.errors import (
    BrokerCertificateError,
    BrokerNameError,
    BrokerUnavailableError,
    DeliveryError,
    RecordTooLargeError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.kafka import (
    Consumer,
    Delivery,
    Message,
    Producer,
    Security,
    open_consumer,
    open_producer,
)
from systems.clusters import (
    ANONYMOUS,
    PATIENCE_SECONDS,
    PRODUCER,
    Brokers,
    at_last,
    logged_in,
    open_patient_producer,
)
from tests.fixtures.brokers import refused

pytestmark = pytest.mark.kafka


def test_certificate_of_another_name(brokers: Brokers) -> None:
    other = "b-1.other.abc123.c1.kafka.eu-central-1.amazonaws.com"
    settings = brokers.settings(Security.TLS, bootstrap_servers=(f"{other}:9094",))

    with resolve_names({other: brokers.cluster.spec.address(1)}):
        text = f"certificate of {other}:9094 is refused: Hostname"
        refused(BrokerCertificateError, text, lambda: open_producer(settings))


def test_certificate_of_an_unknown_authority(brokers: Brokers, tmp_path: Path) -> None:
    stranger = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(stranger))

    settings = brokers.settings(Security.TLS, ca_file=str(stranger))
    text = "is refused: unable to get local issuer certificate"
    refused(BrokerCertificateError, text, lambda: open_producer(settings))


def test_name_that_does_not_resolve(brokers: Brokers) -> None:
    settings = brokers.settings(Security.TLS, bootstrap_servers=("b-7.gone.amazonaws.com:9094",))

    text = r"the name in b-7\.gone\.amazonaws\.com:9094 does not resolve"
    refused(BrokerNameError, text, lambda: open_producer(settings))


def test_nothing_listens(brokers: Brokers) -> None:
    settings = brokers.settings(Security.TLS, bootstrap_servers=("127.0.0.1:9",))

    text = "127.0.0.1:9 cannot be reached: .*Connection refused"
    refused(BrokerUnavailableError, text, lambda: open_producer(settings))


@pytest.mark.parametrize(("security", "port"), [(Security.TLS, 9092), (Security.PLAINTEXT, 9094)])
def test_a_port_of_another_security(brokers: Brokers, security: Security, port: int) -> None:
    settings = brokers.settings(
        security, bootstrap_servers=(f"{brokers.cluster.spec.name(1)}:{port}",)
    )

    text = f"{port} cannot be reached: .*; expected a broker"
    refused(BrokerUnavailableError, text, lambda: open_producer(settings))


def test_one_reachable_broker_is_enough(brokers: Brokers) -> None:
    unreachable = (f"127.0.0.1:{port}" for port in (9, 10, 11))
    servers = (*unreachable, f"{brokers.cluster.spec.name(2)}:9094")

    settings = brokers.settings(Security.TLS, bootstrap_servers=servers)

    at_last(lambda: open_producer(settings)).close()


def test_a_producer_starts_with_a_broker_that_answers(brokers: Brokers) -> None:
    """Others are silent, as behind an endpoint whose zone is gone: packets are dropped."""
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        servers = [f"127.0.0.1:{each.getsockname()[1]}" for each in silent]
        servers.append(f"{brokers.cluster.spec.name(2)}:9094")

        settings = brokers.settings(Security.TLS, bootstrap_servers=tuple(servers))

        at_last(lambda: open_producer(settings)).close()


def test_topic_that_does_not_exist(brokers: Brokers) -> None:
    settings = brokers.settings(Security.IAM)

    text = "topic 'no-such' does not exist"
    with logged_in(brokers, PRODUCER):
        refused(TopicNotFoundError, text, lambda: open_consumer(settings, "no-such"))
        with open_patient_producer(settings) as producer:
            refused(TopicNotFoundError, text, lambda: producer.send("no-such", b"x"))


def test_topic_that_is_not_ours(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    settings = brokers.settings(Security.TLS)

    text = f"topic '{topic}' does not exist or is forbidden for this principal"
    refused(TopicForbiddenError, text, lambda: open_consumer(settings, topic))
    with open_patient_producer(settings) as producer:
        refused(TopicForbiddenError, text, lambda: producer.send(topic, b"x"))


def test_topic_that_we_may_write_only_later(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ")

    with open_patient_producer(brokers.settings(Security.TLS)) as producer:
        text = f"for topic '{topic}' was not acknowledged"
        refused(TopicForbiddenError, text, lambda: producer.send(topic, b"x"))
        brokers.allow(ANONYMOUS, topic, "WRITE")
        assert producer.send(topic, b"x")


def test_topic_that_is_deleted_meanwhile(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    settings = brokers.settings(Security.IAM)

    with (
        logged_in(brokers, PRODUCER),
        at_last(lambda: open_producer(settings, deadline_seconds=3.0)) as producer,
    ):
        at_last(lambda: producer.send(topic, b"x"))
        with closing(brokers.cluster.open_admin()) as admin:
            admin.delete_topics([topic])
        brokers.wait_for_changes()
        with pytest.raises(DeliveryError, match="was not acknowledged within 3 s"):
            producer.send(topic, b"x")
        text = f"topic '{topic}' does not exist"
        refused(TopicNotFoundError, text, lambda: producer.send(topic, b"x"))


def test_record_that_is_too_large(brokers: Brokers) -> None:
    topic = brokers.create_topic()

    settings = brokers.settings(Security.IAM)

    with (
        logged_in(brokers, PRODUCER),
        open_patient_producer(settings) as producer,
    ):
        large, small = producer.send_all(
            [Message(topic, bytes(2_000_000)), Message(topic, bytes(2_000))]
        )

    assert isinstance(large, RecordTooLargeError)
    assert str(large) == (
        f"found a record of 2,000,000 bytes for topic {topic!r}, expected at most "
        "PENSTOCK_MAX_RECORD_BYTES, 1,048,576: raise it and the topic's max.message.bytes, or send "
        "less"
    )
    with (
        logged_in(brokers, PRODUCER),
        Producer(settings, 30, max_record_bytes=3_000_000) as producer,
    ):
        (large,) = producer.send_all([Message(topic, bytes(2_000_000))])
        assert str(large).endswith(
            "expected at most the topic's max.message.bytes: raise it, or send less"
        )
        # A client is not used again that brokers have refused a batch of.
        assert isinstance(producer.send(topic, b"small"), Delivery)
    assert isinstance(small, Delivery)


def _poll_to_error(consumer: Consumer) -> None:
    """Poll until the broker refuses the group; a poll may end before it answers."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        consumer.poll(5.0)


def test_group_that_is_not_ours(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ")

    settings = brokers.settings(Security.TLS)

    with at_last(lambda: open_consumer(settings, topic, group_id="theirs")) as consumer:
        text = f"reading {topic}: .*GroupAuthorizationFailed"
        refused(TopicForbiddenError, text, lambda: _poll_to_error(consumer))
