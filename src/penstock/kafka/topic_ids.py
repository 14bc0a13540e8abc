"""Topic ids, which distinguish a topic from a deleted one of the same name."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from kafka.protocol.metadata import MetadataResponse

from penstock.attempts import Attempts
from penstock.errors import BrokerLoginError, TopicForbiddenError, TopicNotFoundError
from penstock.kafka._connection import MetadataReader, check_topic
from penstock.kafka.login import client_options
from penstock.kafka.probe import TWO_MINUTES, ask_brokers, await_brokers
from penstock.kafka.settings import KafkaSettings

_VERSION = 10  # the first metadata request whose response has ids; brokers of 2.8 and later
_NONE = str(UUID(int=0))
# A broker that has just started, or does not know a new topic yet, reports it as missing.
_ABSENCES = Attempts(first_seconds=0.5, longest_seconds=5, total_seconds=15)


class TopicIds:
    """Finds the ids of topics by a connection that it keeps; a recreated topic has another id.

    `attempts` are the retries while no broker answers, `absences` while a topic is missing.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        attempts: Attempts = TWO_MINUTES,
        absences: Attempts = _ABSENCES,
    ) -> None:
        self._settings = settings
        self._attempts = attempts
        self._absences = absences
        self._options: dict[str, Any] | None = None
        self._missing: set[str] = set()
        self._reader = MetadataReader()

    def find(self, topics: Sequence[str], optional: Container[str] = ()) -> dict[str, str | None]:
        """Return the ids by topic name; None means that the topic does not exist.

        Topics without an id are left out: brokers before 2.8 created them. A topic in `optional`
        that we may not use counts as missing, because its access lists may be deleted with it.

        Raises:
            TopicForbiddenError: a topic that is not optional may not be used.
            BrokerError: no broker can be used; the subclass says why.
        """
        if not topics:
            return {}
        found: dict[str, str | None] = {}
        missing: set[str] = set()
        for _ in self._absences:
            metadata = await_brokers(partial(self._request_metadata, topics), self._attempts)
            found = {topic.name: _read_id(topic, optional) for topic in metadata.topics}
            missing = {name for name, topic_id in found.items() if topic_id is None}
            if missing <= self._missing:  # an earlier call already waited for these topics
                break
        self._missing = missing
        return {name: topic_id for name, topic_id in found.items() if topic_id != _NONE}

    def _request_metadata(self, topics: Sequence[str]) -> MetadataResponse:
        if self._options is not None:
            with suppress(BrokerLoginError):  # the password may have been rotated
                return self._ask_with(self._options, topics)
        self._options = _read_secret_once(client_options(self._settings))
        return self._ask_with(self._options, topics)

    def _ask_with(self, options: Mapping[str, Any], topics: Sequence[str]) -> MetadataResponse:
        return ask_brokers(options, topics, version=_VERSION, reader=self._reader)


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
    """Replace the secret by its current text, so that not every batch reads Secrets Manager."""
    secret = {name: text for name, text in options.items() if name.startswith("sasl_plain_")}
    return options | {name: text.encode().decode() for name, text in secret.items()}
