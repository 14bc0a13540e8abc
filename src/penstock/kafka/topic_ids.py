"""What tells a topic from an earlier one of its name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from kafka.protocol.metadata import MetadataResponse

from penstock.attempts import Attempts
from penstock.errors import BrokerLoginError, BrokerUnavailableError
from penstock.kafka._mechanism import client_options
from penstock.kafka.access import check_access
from penstock.kafka.settings import KafkaSettings

_VERSION = 10  # of the request, the first whose answer has ids; brokers of 2.8 and later
_NONE = UUID(int=0)
# As long as brokers take to come back one by one, and Spark's own client waits for them.
_ATTEMPTS = Attempts(first_seconds=0.5, longest_seconds=5, total_seconds=120)


class TopicIds:
    """Asks for ids of topics, which a topic that is created anew does not share."""

    def __init__(self, settings: KafkaSettings, attempts: Attempts = _ATTEMPTS) -> None:
        """Keep where to ask, and for how long while no broker answers."""
        self._settings = settings
        self._attempts = attempts
        self._options: dict[str, Any] | None = None

    def find(self, topics: Sequence[str]) -> dict[str, str]:
        """Find the ids by the names.

        Raises:
            TopicNotFoundError, TopicForbiddenError: a topic does not exist, or not for us.
            BrokerError: of the kind that says why no broker can be used.
        """
        if not topics:
            return {}
        metadata = self._ask_until_answered(topics)
        return {each.name: str(each.topic_id) for each in metadata.topics if each.topic_id != _NONE}

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
                return check_access(self._options, topics, version=_VERSION)
        self._options = _read_secret_once(client_options(self._settings))
        return check_access(self._options, topics, version=_VERSION)


def _read_secret_once(options: dict[str, Any]) -> dict[str, Any]:
    """Take user name and password as they are now: a login for each batch needs no look-up each."""
    secret = {name: text for name, text in options.items() if name.startswith("sasl_plain_")}
    return options | {name: text.encode().decode() for name, text in secret.items()}
