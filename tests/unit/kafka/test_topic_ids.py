"""Ids of topics are asked for again while brokers are away, and by the password that is right."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

import pytest

from penstock.attempts import Attempts
from penstock.errors import BrokerLoginError, BrokerUnavailableError, TopicNotFoundError
from penstock.kafka import TopicIds
from tests.stubs.registries import FakeTime

_ID = UUID(int=7)


class Brokers:
    """Answers with its failures first; takes logins by one password."""

    def __init__(self):
        self.password = "one"
        self.read = 0
        self.failures = []
        self.asked = 0

    def options(self, _):
        self.read += 1
        return {"client_id": "x", "sasl_plain_password": Secret(self.password)}

    def check_access(self, options, topics, *, version):
        assert version == 10
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        if options["sasl_plain_password"] != self.password:
            raise BrokerLoginError("wrong password")
        ids = {"new": _ID, "old": UUID(int=0)}
        return SimpleNamespace(
            topics=[SimpleNamespace(name=topic, topic_id=ids[topic]) for topic in topics]
        )


class Secret:
    """A password as the settings give it: all it can be is encoded."""

    def __init__(self, text):
        self.text = text

    def encode(self):
        return self.text.encode()


@pytest.fixture
def brokers(monkeypatch):
    made = Brokers()
    monkeypatch.setattr("penstock.kafka.topic_ids.client_options", made.options)
    monkeypatch.setattr("penstock.kafka.topic_ids.check_access", made.check_access)
    return made


@pytest.fixture
def ids():
    time = FakeTime()
    return TopicIds(None, Attempts(1, 2, 5, sleep=time.sleep, clock=time.clock))


def test_topics_without_an_id_are_left_out(brokers, ids):
    assert ids.find(["new", "old"]) == {"new": str(_ID)}
    assert ids.find([]) == {}
    assert brokers.asked == 1


def test_brokers_that_are_away_for_a_while_are_waited_for(brokers, ids):
    brokers.failures = [BrokerUnavailableError("down"), BrokerUnavailableError("down")]
    assert ids.find(["new"])

    brokers.failures = [BrokerUnavailableError(f"down {at}") for at in range(9)]
    with pytest.raises(BrokerUnavailableError, match=r"^down 3$"):
        ids.find(["new"])


def test_the_secret_is_read_once_until_the_password_changes(brokers, ids):
    for _ in range(3):
        ids.find(["new"])
    assert brokers.read == 1

    brokers.password = "two"
    ids.find(["new"])
    assert brokers.read == 2


def test_what_waiting_does_not_help_is_raised(brokers, ids):
    brokers.failures = [TopicNotFoundError("gone")]
    with pytest.raises(TopicNotFoundError):
        ids.find(["new"])

    brokers.failures = [BrokerLoginError("no"), BrokerLoginError("still no")]
    with pytest.raises(BrokerLoginError, match=r"^still no$"):
        ids.find(["new"])
