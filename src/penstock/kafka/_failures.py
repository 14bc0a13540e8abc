"""What kafka-python raises once a client is built, in our errors."""

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
    error: errors.KafkaError, what: str, otherwise: type[BrokerError] = BrokerUnavailableError
) -> BrokerError:
    """Make `<what>: <reason>` of the kind that the error is, `otherwise` of that one."""
    kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), otherwise)
    # By text: the answer to a producer's registration comes as a plain KafkaError that quotes it.
    if "AuthorizationFailed" in str(error):
        kind = TopicForbiddenError
    return kind(f"{what}: {error}")


@contextmanager
def translated_kafka_errors(what: str) -> Iterator[None]:
    """Turn what kafka-python raises into our errors."""
    try:
        yield
    except errors.KafkaError as error:
        raise translate(error, what) from error
