"""Translation of the errors that kafka-python's clients raise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kafka import errors

from penstock.errors import (
    BrokerError,
    BrokerUnavailableError,
    CodecMissingError,
    RecordTooLargeError,
    TopicForbiddenError,
    TopicNotFoundError,
)

_KINDS: tuple[tuple[type[errors.KafkaError], type[BrokerError]], ...] = (
    (errors.UnknownTopicOrPartitionError, TopicNotFoundError),
    (errors.MessageSizeTooLargeError, RecordTooLargeError),
    (errors.RecordListTooLargeError, RecordTooLargeError),
)
# By compression, what kafka-python unpacks it with.
_PACKAGES: Final = {"lz4": "lz4", "snappy": "python-snappy", "zstd": "zstandard"}


def translate(
    error: errors.KafkaError, problem: str, otherwise: type[BrokerError] = BrokerUnavailableError
) -> BrokerError:
    """Return an error `<problem>: <reason>` of our matching class, or of the class `otherwise`."""
    if isinstance(error, errors.UnsupportedCodecError):
        return CodecMissingError(f"{problem}: {_name_package(str(error))}")
    kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), otherwise)
    # By text: a refused producer registration is a plain KafkaError that quotes the error code.
    if "AuthorizationFailed" in str(error):
        kind = TopicForbiddenError
    return kind(f"{problem}: {error}")


def _name_package(said: str) -> str:
    for codec, package in _PACKAGES.items():
        if codec in said:
            return (
                f"found records in the compression {codec}, which this Python cannot unpack: "
                f"install the package {package}"
            )
    return said


@contextmanager
def translated_kafka_errors(problem: str) -> Iterator[None]:
    """Translate kafka-python's errors to ours, with the message `<problem>: <reason>`."""
    try:
        yield
    except errors.KafkaError as error:
        raise translate(error, problem) from error
