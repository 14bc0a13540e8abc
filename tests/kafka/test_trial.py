"""A trial of a login says why a broker, topic, group or transactional id is refused."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

import pytest

from penstock.errors import (
    BrokerCertificateError,
    BrokerLoginError,
    BrokerNameError,
    TopicForbiddenError,
)
from penstock.kafka import Security, apply_readers, try_access, try_login
from penstock.kafka.acls import Reader
from systems.clusters import PRODUCER, Brokers, at_last, logged_in

pytestmark = pytest.mark.kafka

KeepSecret = Callable[..., str]


def test_each_broker_is_tried(brokers: Brokers, keep_secret: KeepSecret) -> None:
    brokers.set_user("tina", "right")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret("tina", "right"))
    servers = settings.bootstrap_servers
    wrong = replace(settings, secret_arn=keep_secret("tina", "wrong", "of-tina"))
    unnamed = replace(settings, bootstrap_servers=(servers[0], "nowhere.invalid:9096"))
    distrusting = replace(settings, ca_file="")

    assert at_last(lambda: _all_well(try_login(settings))) == dict.fromkeys(servers)
    assert {type(each) for each in try_login(wrong).values()} == {BrokerLoginError}
    first, second = try_login(unnamed).values()
    assert (first, type(second)) == (None, BrokerNameError)
    assert {type(each) for each in try_login(distrusting).values()} == {BrokerCertificateError}


def test_what_is_forbidden_is_named_and_nothing_is_joined(
    brokers: Brokers, keep_secret: KeepSecret
) -> None:
    user, topic = f"u-{secrets.token_hex(4)}", brokers.create_topic(partitions=1)
    brokers.set_user(user, "right")
    settings = brokers.settings(Security.SCRAM, secret_arn=keep_secret(user, "right", user))
    refused = at_last(lambda: try_access(settings, [topic], [f"{user}-g"], [f"{user}-t"]))
    assert [type(each) for each in refused] == [TopicForbiddenError] * 3
    for error, name in zip(refused, (topic, f"{user}-g", f"{user}-t"), strict=True):
        assert repr(name) in str(error)

    with logged_in(brokers, PRODUCER):
        reader = Reader(user, (topic,), f"{user}-", transactions=True)
        apply_readers(brokers.settings(Security.IAM), [reader])
    brokers.wait_for_changes()

    assert try_access(settings, [topic], [f"{user}-g"], [f"{user}-t"]) == []


def _all_well(tried: dict[str, object]) -> dict[str, object]:
    problems = [each for each in tried.values() if isinstance(each, Exception)]
    if problems:
        raise problems[0]
    return tried
