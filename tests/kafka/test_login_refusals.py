"""Logins that brokers refuse: said at once and by name, in every client, and no secret with it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from penstock.errors import BrokerLoginError, DeliveryError
from penstock.kafka import Message, Security, open_consumer, open_producer
from penstock.kafka.topics import open_admin
from systems.clusters import (
    PRODUCER,
    Brokers,
    at_last,
    logged_in,
    open_patient_producer,
    read_to_end,
)
from tests.fixtures.brokers import refused

pytestmark = pytest.mark.kafka

KeepSecret = Callable[..., str]


def test_wrong_password(brokers: Brokers, keep_secret: KeepSecret) -> None:
    brokers.set_user("wendy", "right")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("wendy", "wrong"))

    for connect in (open_producer, open_consumer, open_admin):
        text = r"b-1\..*:9096 refuses the login by SCRAM-SHA-512: Auth"
        refused(BrokerLoginError, text, partial(connect, settings))


def test_unknown_user(brokers: Brokers, keep_secret: KeepSecret) -> None:
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("nobody", "right"))

    text = "refuses the login by SCRAM-SHA-512"
    refused(BrokerLoginError, text, lambda: open_producer(settings))


def test_a_rotated_password_is_followed(brokers: Brokers, keep_secret: KeepSecret) -> None:
    topic = brokers.create_topic(partitions=1)
    brokers.set_user("rota", "old")
    brokers.allow("rota", topic, "READ", "WRITE")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("rota", "old"))

    with open_patient_producer(settings) as producer:
        producer.send(topic, b"1")
        brokers.set_user("rota", "new")
        producer.send(topic, b"2")  # an open connection goes on
        refused(BrokerLoginError, "refuses the login", lambda: open_consumer(settings, topic))
        keep_secret("rota", "new")
        with at_last(lambda: open_consumer(settings, topic)) as consumer:
            values = [record.value for record in read_to_end(consumer)]

    assert values == [b"1", b"2"]


def test_a_producer_survives_a_rotation(brokers: Brokers, keep_secret: KeepSecret) -> None:
    topic = brokers.create_topic(partitions=3)
    brokers.set_user("survivor", "old")
    brokers.allow("survivor", topic, "WRITE")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("survivor", "old"))

    with at_last(lambda: open_producer(settings, deadline_seconds=10.0)) as producer:
        at_last(lambda: producer.connect([topic]))
        brokers.set_user("survivor", "new")
        # Of three leaders at least one is not connected to yet.
        many = [Message(topic, b"1", key=b"%d" % n) for n in range(20)]
        failed = [o for o in producer.send_all(many) if isinstance(o, DeliveryError)]
        assert "was not acknowledged within 10 s" in str(failed[0])
        # It is told, not waited for: else the record is "not acknowledged", as before.
        text = "refuses the login by SCRAM-SHA-512"
        refused(BrokerLoginError, text, lambda: producer.send(topic, b"2"))
        keep_secret("survivor", "new")
        deliveries = [at_last(lambda: producer.send(topic, b"3")) for _ in range(9)]

    assert len(set(deliveries)) == 9


def test_nobody_is_refused_while_two_users_take_turns(
    brokers: Brokers, keep_secret: KeepSecret
) -> None:
    """As infra/modules/broker-cluster rotates: each has a new password before the secret has it."""
    topic = brokers.create_topic(partitions=3)
    users = ("turn_a", "turn_b")
    for user in users:
        brokers.set_user(user, "1")
        brokers.allow(user, topic, "READ", "WRITE")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("turn_a", "1", "turns"))

    written: list[bytes] = []
    with open_patient_producer(settings) as producer:
        for rotation, user in enumerate((*users[::-1], *users[::-1]), 2):
            brokers.set_user(user, str(rotation))  # of the one that is not in use
            with open_producer(settings) as newcomer:
                for each in (producer, newcomer):
                    written.append(b"%d" % len(written))
                    each.send(topic, written[-1])
            keep_secret(user, str(rotation), "turns")
            with at_last(lambda: open_consumer(settings, topic)) as consumer:
                values = [record.value for record in read_to_end(consumer)]
                assert sorted(values) == written


def test_a_login_that_the_listener_does_not_offer(
    brokers: Brokers, keep_secret: KeepSecret
) -> None:
    servers = (f"{brokers.cluster.spec.name(1)}:9098",)
    arn = keep_secret("wendy", "right")

    settings = brokers.settings(Security.SCRAM, secret_arn=arn, bootstrap_servers=servers)
    text = "by SCRAM-SHA-512: it offers OAUTHBEARER"
    refused(BrokerLoginError, text, lambda: open_producer(settings))


def test_iam_with_a_wrong_secret(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER, secret="another"):
        text = "by OAUTHBEARER: .*the signature does not match"
        refused(BrokerLoginError, text, lambda: open_producer(brokers.settings(Security.IAM)))


def test_iam_with_an_unknown_key(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        del brokers.keys[access_key]
        text = f"the access key '{access_key}' does not exist"
        refused(BrokerLoginError, text, lambda: open_producer(brokers.settings(Security.IAM)))


def test_iam_with_credentials_that_ended(brokers: Brokers) -> None:
    ended = replace(PRODUCER, expires_at=datetime.now(UTC) - timedelta(seconds=1))

    with logged_in(brokers, ended):
        text = "it expired at 2"
        refused(BrokerLoginError, text, lambda: open_producer(brokers.settings(Security.IAM)))


def test_no_secret_reaches_a_log(
    brokers: Brokers, keep_secret: KeepSecret, caplog: pytest.LogCaptureFixture
) -> None:
    password = secrets.token_hex(8)
    brokers.set_user("logged", password)
    arn = keep_secret("logged", password)
    caplog.set_level(logging.DEBUG)

    at_last(lambda: open_admin(brokers.settings(Security.SCRAM, secret_arn=arn))).close()
    with logged_in(brokers, PRODUCER):
        at_last(lambda: open_producer(brokers.settings(Security.IAM))).close()

    assert "kafka.net.manager" in caplog.text
    assert password not in caplog.text
    assert "auth=Bearer" not in caplog.text
