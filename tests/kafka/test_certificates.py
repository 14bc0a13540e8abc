"""Logins by client certificate: by the access lists of its name, or refused in a sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import pytest
import trustme

from penstock.errors import BrokerLoginError, TopicForbiddenError
from penstock.extensions.access.operation import list_access
from penstock.kafka import (
    AccessList,
    Reader,
    Security,
    apply_readers,
    find_user,
    open_consumer,
    open_producer,
)
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
from tests.fixtures.certificates import issue_login

pytestmark = pytest.mark.kafka

KeepLogin = Callable[[str, dict[str, str]], str]


def test_a_certificate_may_do_what_its_access_lists_allow(
    brokers: Brokers, keep_login: KeepLogin, name: str
) -> None:
    topics = [brokers.create_topic(partitions=3) for _ in range(2)]
    user, prefix = f"CN={name},OU=data,O=Acme", f"{name}-"
    with logged_in(brokers, PRODUCER):
        administrator = brokers.settings(Security.IAM)
        apply_readers(administrator, [Reader(user, (topics[0],), prefix, (topics[0],))])
        assert AccessList(user, "READ", "TOPIC", topics[0]) in list_access(administrator)
    arn = keep_login(name, issue_login(brokers.authority, name))
    settings = brokers.settings(Security.TLS, secret_arn=arn)

    with open_patient_producer(settings) as producer:
        at_last(lambda: producer.send(topics[0], b"1"))
    with at_last(lambda: open_consumer(settings, topics[0], group_id=f"{prefix}1")) as consumer:
        assert [record.value for record in read_to_end(consumer)] == [b"1"]

    assert find_user(settings) == user
    refused(TopicForbiddenError, topics[1], lambda: open_consumer(settings, topics[1]))


def test_a_certificate_of_another_authority_is_refused(
    brokers: Brokers, keep_login: KeepLogin, name: str
) -> None:
    arn = keep_login(name, issue_login(trustme.CA(), name))
    settings = brokers.settings(Security.TLS, secret_arn=arn)

    for connect in (open_producer, open_consumer, open_admin):
        text = (
            r"b-1\..*:9094 refuses the client certificate: .*; expected one that a private CA of "
            "the cluster issued and that is still valid"
        )
        refused(BrokerLoginError, text, partial(connect, settings))


def test_no_private_key_reaches_a_log(
    brokers: Brokers, keep_login: KeepLogin, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    login = issue_login(brokers.authority, name)
    settings = brokers.settings(Security.TLS, secret_arn=keep_login(name, login))
    caplog.set_level(logging.DEBUG)

    at_last(lambda: open_admin(settings)).close()

    assert "kafka.net.manager" in caplog.text
    assert login["privateKey"].splitlines()[1] not in caplog.text
