"""What tells a topic from an earlier one of its name."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from kafka.protocol.metadata import MetadataResponse

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerLoginError,
    BrokerUnavailableError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.kafka._mechanism import client_options
from penstock.kafka._probe import check_topic
from penstock.kafka.access import ask_brokers
from penstock.kafka.settings import KafkaSettings

_VERSION = 10  # of the request, the first whose answer has ids; brokers of 2.8 and later
_NONE = str(UUID(int=0))
# As long as brokers take to come back one by one, and Spark's own client waits for them.
_ATTEMPTS = Attempts(first_seconds=0.5, longest_seconds=5, total_seconds=120)
# A broker that has just started, or has not heard of a new topic yet, says that there is none.
_ABSENCES = Attempts(first_seconds=0.5, longest_seconds=5, total_seconds=15)


class TopicIds:
    """Asks for ids of topics, which a topic that is created anew does not share."""

    def __init__(
        self,
        settings: KafkaSettings,
        attempts: Attempts = _ATTEMPTS,
        absences: Attempts = _ABSENCES,
    ) -> None:
        """Keep where to ask, and for how long while no broker answers, or knows a topic."""
        self._settings = settings
        self._attempts = attempts
        self._absences = absences
        self._options: dict[str, Any] | None = None
        self._missing: set[str] = set()

    def find(self, topics: Sequence[str], optional: Container[str] = ()) -> dict[str, str | None]:
        """Find the ids by the names; None says that a topic does not exist.

        Topics that have none, as brokers made them before 2.8, are left out. Of those that are
        `optional` one that is not for us is none: with a topic its access lists may go.

        Raises:
            TopicForbiddenError: a topic is not for us.
            BrokerError: of the kind that says why no broker can be used.
        """
        if not topics:
            return {}
        found: dict[str, str | None] = {}
        missing: set[str] = set()
        for _ in self._absences:
            metadata = self._ask_until_answered(topics)
            found = {topic.name: _read_id(topic, optional) for topic in metadata.topics}
            missing = {name for name, topic_id in found.items() if topic_id is None}
            if missing <= self._missing:  # what was waited for once is not waited for again
                break
        self._missing = missing
        return {name: topic_id for name, topic_id in found.items() if topic_id != _NONE}

    def _ask_until_answered(self, topics: Sequence[str]) -> MetadataResponse:
        failure = BrokerUnavailableError("no broker was asked")
        for _ in self._attempts:
            try:
                return self._ask(topics)
            except BrokerUnavailableError as error:
                failure = error
        raise failure

    def _ask(self, topics: Sequence[str]) -> MetadataResponse:
        if self._options is not None:
            with suppress(BrokerLoginError):  # the password may be another one by now
                return ask_brokers(self._options, topics, version=_VERSION)
        self._options = _read_secret_once(client_options(self._settings))
        return ask_brokers(self._options, topics, version=_VERSION)


def _read_id(topic: Any, optional: Container[str]) -> str | None:
    try:
        check_topic(topic)
    except TopicNotFoundError:
        return None
    except TopicForbiddenError:
        if topic.name in optional:
            return None
        raise
    return str(topic.topic_id)


def _read_secret_once(options: dict[str, Any]) -> dict[str, Any]:
    """Take user name and password as they are now: a login for each batch needs no look-up each."""
    secret = {name: text for name, text in options.items() if name.startswith("sasl_plain_")}
    return options | {name: text.encode().decode() for name, text in secret.items()}
