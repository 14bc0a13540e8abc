"""What is wrong is said at once and by its name, where kafka-python says "timeout" in the end."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from localcloud.network import resolve_names
from penstock.errors import (
    BrokerCertificateError,
    BrokerError,
    BrokerLoginError,
    BrokerNameError,
    BrokerUnavailableError,
    DeliveryError,
    RecordTooLargeError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.kafka import Delivery, Message, Security, open_admin, open_consumer, open_producer
from tests.fixtures.brokers import ANONYMOUS, PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka

KeepSecret = Callable[[str, str], str]


@contextmanager
def _refused(kind: type[BrokerError], text: str, within_seconds: float = 3.0) -> Iterator[None]:
    started = time.monotonic()
    with pytest.raises(kind, match=text) as caught:
        yield
    assert type(caught.value) is kind
    assert time.monotonic() - started < within_seconds


def test_wrong_password(brokers: Brokers, keep_secret: KeepSecret) -> None:
    brokers.cluster.set_user("wendy", "right")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("wendy", "wrong"))

    for connect in (open_producer, open_consumer, open_admin):
        with _refused(BrokerLoginError, r"b-1\..*:9096 refuses the login by SCRAM-SHA-512: Auth"):
            connect(settings)


def test_unknown_user(brokers: Brokers, keep_secret: KeepSecret) -> None:
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("nobody", "right"))

    with _refused(BrokerLoginError, "refuses the login by SCRAM-SHA-512"):
        open_producer(settings)


def test_a_rotated_password_is_followed(brokers: Brokers, keep_secret: KeepSecret) -> None:
    topic = brokers.create_topic(partitions=1)
    brokers.cluster.set_user("rota", "old")
    brokers.allow("rota", topic, "READ", "WRITE")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("rota", "old"))

    with open_producer(settings) as producer:
        producer.send(topic, b"1")
        brokers.cluster.set_user("rota", "new")
        producer.send(topic, b"2")  # an open connection goes on
        with _refused(BrokerLoginError, "refuses the login"):
            open_consumer(settings, topic)
        keep_secret("rota", "new")
        with open_consumer(settings, topic) as consumer:
            values = [record.value for record in consumer.poll(10.0)]

    assert values == [b"1", b"2"]


def test_a_producer_survives_a_rotation(brokers: Brokers, keep_secret: KeepSecret) -> None:
    topic = brokers.create_topic(partitions=3)
    brokers.cluster.set_user("survivor", "old")
    brokers.allow("survivor", topic, "WRITE")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("survivor", "old"))

    with open_producer(settings, deadline_seconds=3.0) as producer:
        producer.connect([topic])
        brokers.cluster.set_user("survivor", "new")
        # Of three leaders at least one is not connected to yet.
        many = [Message(topic, b"1", key=b"%d" % n) for n in range(20)]
        failed = [o for o in producer.send_all(many) if isinstance(o, DeliveryError)]
        assert "was not acknowledged within 3 s" in str(failed[0])
        with _refused(BrokerLoginError, "refuses the login by SCRAM-SHA-512", 1.5):
            producer.send(topic, b"2")
        keep_secret("survivor", "new")
        deliveries = [producer.send(topic, b"%d" % n) for n in range(9)]

    assert len(set(deliveries)) == 9


def test_a_login_that_the_listener_does_not_offer(
    brokers: Brokers, keep_secret: KeepSecret
) -> None:
    servers = (f"{brokers.cluster.spec.name(1)}:9098",)
    arn = keep_secret("wendy", "right")

    with _refused(BrokerLoginError, "by SCRAM-SHA-512: it offers OAUTHBEARER"):
        open_producer(brokers.settings(Security.SCRAM, secret_arn=arn, bootstrap_servers=servers))


def test_iam_with_a_wrong_secret(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER, secret="another"):
        with _refused(BrokerLoginError, "by OAUTHBEARER: .*the signature does not match"):
            open_producer(brokers.settings(Security.IAM))


def test_iam_with_an_unknown_key(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        del brokers.keys[access_key]
        with _refused(BrokerLoginError, f"the access key '{access_key}' does not exist"):
            open_producer(brokers.settings(Security.IAM))


def test_iam_with_credentials_that_ended(brokers: Brokers) -> None:
    ended = replace(PRODUCER, expires_at=datetime.now(UTC) - timedelta(seconds=1))

    with logged_in(brokers, ended), _refused(BrokerLoginError, "it expired at 2"):
        open_producer(brokers.settings(Security.IAM))


def test_certificate_of_another_name(brokers: Brokers) -> None:
    other = "b-1.other.abc123.c1.kafka.eu-central-1.amazonaws.com"
    settings = brokers.settings(Security.TLS, bootstrap_servers=(f"{other}:9094",))

    with resolve_names({other: brokers.cluster.spec.address(1)}):
        with _refused(BrokerCertificateError, f"certificate of {other}:9094 is refused: Hostname"):
            open_producer(settings)


def test_certificate_of_an_unknown_authority(brokers: Brokers, tmp_path: Path) -> None:
    stranger = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(stranger))

    with _refused(BrokerCertificateError, "is refused: unable to get local issuer certificate"):
        open_producer(brokers.settings(Security.TLS, ca_file=str(stranger)))


def test_name_that_does_not_resolve(brokers: Brokers) -> None:
    settings = brokers.settings(Security.TLS, bootstrap_servers=("b-7.gone.amazonaws.com:9094",))

    with _refused(BrokerNameError, r"the name in b-7\.gone\.amazonaws\.com:9094 does not resolve"):
        open_producer(settings)


def test_nothing_listens(brokers: Brokers) -> None:
    settings = brokers.settings(Security.TLS, bootstrap_servers=("127.0.0.1:9",))

    with _refused(BrokerUnavailableError, "127.0.0.1:9 cannot be talked to: .*Connection refused"):
        open_producer(settings)


@pytest.mark.parametrize(("security", "port"), [(Security.TLS, 9092), (Security.PLAINTEXT, 9094)])
def test_a_port_of_another_security(brokers: Brokers, security: Security, port: int) -> None:
    settings = brokers.settings(
        security, bootstrap_servers=(f"{brokers.cluster.spec.name(1)}:{port}",)
    )

    with _refused(BrokerUnavailableError, f"{port} cannot be talked to: .*; expected a broker"):
        open_producer(settings)


def test_one_reachable_broker_is_enough(brokers: Brokers) -> None:
    servers = ("127.0.0.1:9", f"{brokers.cluster.spec.name(2)}:9094")

    with open_producer(brokers.settings(Security.TLS, bootstrap_servers=servers)):
        pass


def test_topic_that_does_not_exist(brokers: Brokers) -> None:
    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER):
        with _refused(TopicNotFoundError, "topic 'no-such' does not exist"):
            open_consumer(settings, "no-such")
        with open_producer(settings) as producer:
            with _refused(TopicNotFoundError, "topic 'no-such' does not exist"):
                producer.send("no-such", b"x")


def test_topic_that_is_not_ours(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    settings = brokers.settings(Security.TLS)

    with _refused(TopicForbiddenError, f"topic '{topic}' is not for this principal"):
        open_consumer(settings, topic)
    with open_producer(settings) as producer:
        with _refused(TopicForbiddenError, f"topic '{topic}' is not for this principal"):
            producer.send(topic, b"x")


def test_topic_that_we_may_write_only_later(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ")

    with open_producer(brokers.settings(Security.TLS)) as producer:
        with _refused(TopicForbiddenError, f"for topic '{topic}' was not acknowledged"):
            producer.send(topic, b"x")
        brokers.allow(ANONYMOUS, topic, "WRITE")
        assert producer.send(topic, b"x")


def test_topic_that_is_deleted_meanwhile(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER), open_producer(settings, deadline_seconds=3.0) as producer:
        producer.send(topic, b"x")
        with closing(brokers.cluster.open_admin()) as admin:
            admin.delete_topics([topic])
        with _refused(DeliveryError, "was not acknowledged within 3 s", 4.0):
            producer.send(topic, b"x")
        with _refused(TopicNotFoundError, f"topic '{topic}' does not exist"):
            producer.send(topic, b"x")


def test_record_that_is_too_large(brokers: Brokers) -> None:
    topic = brokers.create_topic()

    with logged_in(brokers, PRODUCER), open_producer(brokers.settings(Security.IAM)) as producer:
        large, small = producer.send_all(
            [Message(topic, bytes(2_000_000)), Message(topic, bytes(2_000))]
        )

    assert isinstance(large, RecordTooLargeError)
    assert "2000" in str(large)
    assert isinstance(small, Delivery)


def test_group_that_is_not_ours(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ")

    with open_consumer(brokers.settings(Security.TLS), topic, group_id="theirs") as consumer:
        with _refused(TopicForbiddenError, f"reading {topic}: .*GroupAuthorizationFailed"):
            consumer.poll(5.0)


def test_no_secret_reaches_a_log(
    brokers: Brokers, keep_secret: KeepSecret, caplog: pytest.LogCaptureFixture
) -> None:
    password = secrets.token_hex(8)
    brokers.cluster.set_user("logged", password)
    arn = keep_secret("logged", password)
    caplog.set_level(logging.DEBUG)

    open_admin(brokers.settings(Security.SCRAM, secret_arn=arn)).close()
    with logged_in(brokers, PRODUCER):
        open_producer(brokers.settings(Security.IAM)).close()

    assert "kafka.net.manager" in caplog.text
    assert password not in caplog.text
    assert "auth=Bearer" not in caplog.text
