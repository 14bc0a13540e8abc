"""Translation of the errors that kafka-python's clients raise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka import errors

from penstock.errors import (
    BrokerError,
    BrokerUnavailableError,
    RecordTooLargeError,
    TopicForbiddenError,
    TopicNotFoundError,
)

_KINDS: tuple[tuple[type[errors.KafkaError], type[BrokerError]], ...] = (
    (errors.UnknownTopicOrPartitionError, TopicNotFoundError),
    (errors.MessageSizeTooLargeError, RecordTooLargeError),
    (errors.RecordListTooLargeError, RecordTooLargeError),
)


def translate(
    error: errors.KafkaError, problem: str, otherwise: type[BrokerError] = BrokerUnavailableError
) -> BrokerError:
    """Return an error `<problem>: <reason>` of our matching class, or of the class `otherwise`."""
    kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), otherwise)
    # By text: a refused producer registration is a plain KafkaError that quotes the error code.
    if "AuthorizationFailed" in str(error):
        kind = TopicForbiddenError
    return kind(f"{problem}: {error}")


@contextmanager
def translated_kafka_errors(problem: str) -> Iterator[None]:
    """Translate kafka-python's errors to ours, with the message `<problem>: <reason>`."""
    try:
        yield
    except errors.KafkaError as error:
        raise translate(error, problem) from error
