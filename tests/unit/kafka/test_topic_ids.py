"""Ids of topics are asked for again while brokers are away or new, by the right password."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

import pytest
from kafka.errors import TopicAuthorizationFailedError, UnknownTopicOrPartitionError

from penstock.attempts import Attempts
from penstock.errors import BrokerLoginError, BrokerUnavailableError, TopicForbiddenError
from penstock.kafka import TopicIds
from tests.stubs.clock import FakeTime

_ID = UUID(int=7)


class Brokers:
    """Answers with its failures first; takes logins by one password."""

    def __init__(self):
        self.password = "one"
        self.read = 0
        self.failures = []
        self.refused = {}
        self.asked = 0

    def options(self, _):
        self.read += 1
        return {"client_id": "x", "sasl_plain_password": Secret(self.password)}

    def ask_brokers(self, options, topics, *, version, reader):
        assert version == 10
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        if options["sasl_plain_password"] != self.password:
            raise BrokerLoginError("wrong password")
        return SimpleNamespace(topics=[self._describe(topic) for topic in topics])

    def _describe(self, topic):
        ids = {"new": _ID}
        errors = self.refused.get(topic)
        code = errors.pop(0).errno if errors else 0
        return SimpleNamespace(name=topic, topic_id=ids.get(topic, UUID(int=0)), error_code=code)


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
    monkeypatch.setattr("penstock.kafka.topic_ids.ask_brokers", made.ask_brokers)
    return made


@pytest.fixture
def ids():
    time = FakeTime()
    attempts = Attempts(1, 2, 5, sleep=time.sleep, clock=time.clock)
    return TopicIds(None, attempts, attempts)


def test_topics_without_an_id_are_left_out(brokers, ids):
    assert ids.find(["new", "old"]) == {"new": str(_ID)}
    assert ids.find([]) == {}
    assert brokers.asked == 1


def test_unavailable_brokers_are_retried(brokers, ids):
    brokers.failures = [BrokerUnavailableError("down"), BrokerUnavailableError("down")]
    assert ids.find(["new"])

    brokers.failures = [BrokerUnavailableError(f"down {at}") for at in range(9)]
    with pytest.raises(BrokerUnavailableError, match=r"^down 3$"):
        ids.find(["new"])


def test_a_topic_that_a_broker_does_not_know_is_asked_for_again(brokers, ids):
    brokers.refused = {"new": [UnknownTopicOrPartitionError] * 2}
    assert ids.find(["new"]) == {"new": str(_ID)}
    assert brokers.asked == 3

    brokers.refused = {"gone": [UnknownTopicOrPartitionError] * 9}
    assert ids.find(["new", "gone", "old"]) == {"new": str(_ID), "gone": None}
    assert brokers.asked == 3 + 4
    # What was waited for once is not waited for with each batch.
    assert ids.find(["new", "gone"])["gone"] is None
    assert brokers.asked == 3 + 4 + 1

    brokers.refused = {"new": [UnknownTopicOrPartitionError] * 2, "gone": []}
    assert ids.find(["new"]) == {"new": str(_ID)}
    assert brokers.asked == 3 + 4 + 1 + 3


def test_a_forbidden_optional_topic_counts_as_missing(brokers, ids):
    brokers.refused = {"closed": [TopicAuthorizationFailedError] * 9}
    assert ids.find(["new", "closed"], ["closed"]) == {"new": str(_ID), "closed": None}

    with pytest.raises(
        TopicForbiddenError,
        match="topic 'closed' does not exist or is forbidden for this principal",
    ):
        ids.find(["new", "closed"], ["new"])


def test_the_secret_is_read_once_until_the_password_changes(brokers, ids):
    for _ in range(3):
        ids.find(["new"])
    assert brokers.read == 1

    brokers.password = "two"
    ids.find(["new"])
    assert brokers.read == 2


def test_an_error_that_is_not_retriable_is_raised(brokers, ids):
    brokers.refused = {"new": [TopicAuthorizationFailedError]}
    with pytest.raises(
        TopicForbiddenError, match="topic 'new' does not exist or is forbidden for this principal"
    ):
        ids.find(["new"])

    brokers.failures = [BrokerLoginError("no"), BrokerLoginError("still no")]
    with pytest.raises(BrokerLoginError, match=r"^still no$"):
        ids.find(["new"])
