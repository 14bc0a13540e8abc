"""Every error Penstock raises: one tree on one page, so this module is longer than others.

PenstockError                       the base class of all errors of Penstock
├── SettingsError                   invalid settings, with every problem in one error
├── EventError                      a JSON event that cannot become a record
│   ├── EventTextError              the text is not one valid JSON object
│   ├── EventValueError             a field holds a value that no schema can carry
│   ├── EventMismatchError          it does not fit the schema that was registered for it
│   └── EventLimitError             too deep, too many fields
├── FramingError                    the bytes around the payload
│   ├── UnknownFramingError         a frame of no known kind
│   ├── TruncatedFrameError         the frame or its zlib stream ends too early
│   ├── CorruptFrameError           the zlib stream is broken or bytes follow its end
│   ├── InflateLimitError           the inflated payload would exceed the limit
│   └── NoRegistryForFramingError   a frame of a known kind that has no registry configured
├── PayloadError                    the Avro bytes of one record, or a value for them
│   ├── TruncatedPayloadError       ends too early, or claims a size beyond its end
│   ├── TrailingBytesError          bytes are left when the record is complete
│   ├── InvalidTextError            a string that is not valid UTF-8
│   ├── PayloadLimitError           becomes more values than one event may have
│   ├── UndecodablePayloadError     any other payload that is not a value of its schema
│   ├── UnencodableValueError       a value that its schema cannot carry
│   └── LossyWideningError          reading it with the merged schema would round it
├── SchemaError                     a schema that cannot be used
│   ├── InvalidSchemaError          not an Avro schema
│   ├── RecursiveSchemaError        contains itself
│   ├── SchemaLimitError            too deep, too many fields, definition too long
│   ├── SchemaConflictError         two versions contradict each other
│   └── VersionBudgetError          registering it would exceed the version budget
├── RegistryError                   an error of a schema registry
│   ├── SchemaNotFoundError         no such schema or version
│   ├── SchemaForbiddenError        from a registry or schema not on the allow-list
│   ├── SchemaRefusedError          the version exists but must not be used
│   ├── IncompatibleSchemaError     the registry's compatibility rule rejects it
│   ├── SchemaQuotaError            the registry takes no further version
│   ├── RegistryAnswerError         an answer that cannot be right (retriable)
│   ├── RegistryAccessDeniedError   STS or the registry denies access (retriable)
│   └── RegistryUnavailableError    throttled, down or too slow (retriable)
├── BrokerError                     an error of Kafka, or no answer
│   ├── BrokerLoginError            the broker rejects the credentials
│   ├── BrokerNameError             a bootstrap name does not resolve
│   ├── BrokerCertificateError      the certificate is for another name or from another authority
│   ├── BrokerUnavailableError      no broker answers (retriable)
│   ├── TopicNotFoundError          no such topic
│   ├── TopicForbiddenError         the principal has no permission for the topic or group
│   ├── TopicChangeError            an existing topic cannot be changed as requested
│   ├── RecordTooLargeError         a record larger than the topic takes
│   ├── CodecMissingError           a compression that this Python has no package for
│   └── DeliveryError               a send that was not acknowledged in time (retriable)
├── NotWrittenError                 an event that a producer did not write
│   ├── RejectedEventError          it can never be written unchanged
│   └── UndeliveredEventError       the registry or Kafka did not take it (retriable)
├── OperationError                  an operator's request that cannot be carried out
├── JobError                        an error that stops a job until an operator decides
│   ├── CheckpointError             the checkpoint cannot be used as it is
│   ├── CheckpointInUseError        another job uses the checkpoint
│   └── LostRecordsError            Kafka deleted records before they were read
└── SinkError                       an error of a table or bucket
    ├── UnroutableError             a record without the fields that identify its row
    ├── SinkRefusedError            the table rejects the row, and a retry does not help
    │   └── RowTooLargeError        larger than a table takes
    ├── RowExistsError              another row exists under the key
    ├── ObjectMissingError          an object that a row refers to is not in its bucket
    ├── LakeHistoryError            what a table of the lake has is not known
    ├── SinkAccessDeniedError       the table or bucket denies access (retriable)
    └── SinkUnavailableError        throttled, down, missing or too slow (retriable)

A message says what was found, what was expected and where, and ends without a period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self


class Reason(StrEnum):
    """The `reason` in the error row of a record that was given up, the same in Lambda and Spark."""

    UNKNOWN_FRAMING = "unknown-framing"
    NO_REGISTRY_FOR_FRAMING = "no-registry-for-framing"
    TRUNCATED = "truncated"
    UNDECODABLE = "undecodable"
    TRAILING_BYTES = "trailing-bytes"
    INVALID_TEXT = "invalid-text"
    INFLATE_LIMIT = "inflate-limit"
    UNKNOWN_SCHEMA = "unknown-schema"
    FORBIDDEN_SCHEMA = "forbidden-schema"
    REFUSED_SCHEMA = "refused-schema"
    RECURSIVE_SCHEMA = "recursive-schema"
    SCHEMA_CONFLICT = "schema-conflict"
    LOSSY_WIDENING = "lossy-widening"
    UNROUTABLE = "unroutable"
    OVERSIZE = "oversize"
    SINK_REFUSED = "sink-refused"
    UNMET_DEPENDENCY = "unmet-dependency"


class PenstockError(Exception):
    """Base class of all; a `retriable` one may pass, one with a `reason` makes a dead letter."""

    retriable: ClassVar[bool] = False
    reason: ClassVar[Reason | None] = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling for errors with any constructor arguments."""
        return _restore, (type(self), self.args, self.__dict__)


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a record is given up, and the message of the error that caused it."""

    reason: Reason
    detail: str

    @classmethod
    def of(cls, error: PenstockError) -> Self:
        """Return the failure for an error with a reason; raise an error that has none."""
        if error.reason is None:
            raise error
        return cls(error.reason, str(error))


def _restore(kind: type[PenstockError], args: Any, fields: Mapping[str, Any]) -> PenstockError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class SettingsError(PenstockError):
    """The settings are not valid; `problems` lists each, and the message has them in one line."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        several = f"{len(problems)} settings are wrong: {'; '.join(problems)}"
        super().__init__(problems[0] if len(problems) == 1 else several)


# --- events ---------------------------------------------------------------------------------


class EventError(PenstockError):
    """A JSON event that cannot become a record; `path` names the field, such as `a.b[]`."""

    def __init__(self, message: str, *, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class EventTextError(EventError):
    """The text is not one valid JSON object."""


class EventValueError(EventError):
    """A field holds a value that no schema can carry."""


class EventMismatchError(EventError):
    """The event does not fit the schema that was registered for it."""


class EventLimitError(EventError):
    """The event is too deep or has too many fields."""


# --- frames ---------------------------------------------------------------------------------


class FramingError(PenstockError):
    """The bytes around the payload are not a valid frame."""


class UnknownFramingError(FramingError):
    """The value does not start like a frame of any known kind."""

    reason = Reason.UNKNOWN_FRAMING


class TruncatedFrameError(FramingError):
    """The frame, or the zlib stream inside it, ends too early."""

    reason = Reason.TRUNCATED


class CorruptFrameError(FramingError):
    """The zlib stream is broken, or bytes follow its end."""

    reason = Reason.UNDECODABLE


class InflateLimitError(FramingError):
    """The inflated payload would exceed the limit."""

    reason = Reason.INFLATE_LIMIT


class NoRegistryForFramingError(FramingError):
    """The frame's kind is known, but no registry of this kind is configured."""

    reason = Reason.NO_REGISTRY_FOR_FRAMING


# --- payloads -------------------------------------------------------------------------------


class PayloadError(PenstockError):
    """The Avro bytes of a record, or a value for them, do not fit; `path` is like `a.b[0]`."""

    def __init__(self, message: str, *, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class TruncatedPayloadError(PayloadError):
    """The payload ends too early, or claims a size larger than the rest of it."""

    reason = Reason.TRUNCATED


class TrailingBytesError(PayloadError):
    """Bytes are left when the record is complete."""

    reason = Reason.TRAILING_BYTES


class InvalidTextError(PayloadError):
    """A string is not valid UTF-8."""

    reason = Reason.INVALID_TEXT


class PayloadLimitError(PayloadError):
    """The payload becomes more values than one event may have."""

    reason = Reason.OVERSIZE


class UndecodablePayloadError(PayloadError):
    """The payload is not a value of its schema."""

    reason = Reason.UNDECODABLE


class UnencodableValueError(PayloadError):
    """The value is not one that its schema can carry."""


class LossyWideningError(PayloadError):
    """Reading the value through the merged schema would round it."""

    reason = Reason.LOSSY_WIDENING


# --- schemas --------------------------------------------------------------------------------


class SchemaError(PenstockError):
    """A schema that cannot be used."""


class InvalidSchemaError(SchemaError):
    """The definition is not an Avro schema."""

    reason = Reason.UNDECODABLE


class RecursiveSchemaError(SchemaError):
    """The schema contains itself, so a decoder of it would not be bounded."""

    reason = Reason.RECURSIVE_SCHEMA


class SchemaLimitError(SchemaError):
    """The schema is too deep, has too many fields, or its definition is too long."""

    reason = Reason.UNDECODABLE


class SchemaConflictError(SchemaError):
    """Two versions of a schema contradict each other; `path` names the field."""

    reason = Reason.SCHEMA_CONFLICT

    def __init__(self, message: str, *, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class VersionBudgetError(SchemaError):
    """Registering the schema would exceed the version budget."""


# --- registries -----------------------------------------------------------------------------


class RegistryError(PenstockError):
    """A schema registry answered with an error, or did not answer."""


class SchemaNotFoundError(RegistryError):
    """The schema or version does not exist."""

    reason = Reason.UNKNOWN_SCHEMA


class SchemaForbiddenError(RegistryError):
    """The schema comes from a registry, or has a name, that is not on the allow-list."""

    reason = Reason.FORBIDDEN_SCHEMA


class SchemaRefusedError(RegistryError):
    """The version exists, but the registry's rule refused it or it contradicts a lower version."""

    reason = Reason.REFUSED_SCHEMA


class IncompatibleSchemaError(RegistryError):
    """The registry's compatibility rule rejects the version; `rule` and `diff` explain why."""

    def __init__(self, message: str, *, rule: str, diff: str) -> None:
        self.rule = rule
        self.diff = diff
        super().__init__(message)


class SchemaQuotaError(RegistryError):
    """The registry takes no further registry, schema or version."""


class RegistryAnswerError(RegistryError):
    """The registry's answer cannot be right, such as another version or an invalid schema ARN."""

    retriable = True


class RegistryAccessDeniedError(RegistryError):
    """STS or the registry denies access; the record is retried, not given up."""

    retriable = True


class RegistryUnavailableError(RegistryError):
    """The registry is throttling, down or too slow."""

    retriable = True


# --- brokers --------------------------------------------------------------------------------


class BrokerError(PenstockError):
    """Kafka answered with an error, or did not answer."""


class BrokerLoginError(BrokerError):
    """The broker rejects the credentials."""


class BrokerNameError(BrokerError):
    """A bootstrap name does not resolve."""


class BrokerCertificateError(BrokerError):
    """The broker's certificate is for another name or from another authority."""


class BrokerUnavailableError(BrokerError):
    """No broker answers."""

    retriable = True


class TopicNotFoundError(BrokerError):
    """The topic does not exist."""


class TopicForbiddenError(BrokerError):
    """The principal has no permission for the topic or group."""


class TopicChangeError(BrokerError):
    """The topic exists and cannot be changed as requested."""


class RecordTooLargeError(BrokerError):
    """The record is larger than the client or the topic takes."""

    reason = Reason.OVERSIZE


class CodecMissingError(BrokerError):
    """Records are in a compression that this Python has no package for."""


class DeliveryError(BrokerError):
    """A send was not acknowledged before its deadline; whether it was written is unknown."""

    retriable = True


# --- producers ------------------------------------------------------------------------------


class NotWrittenError(PenstockError):
    """An event was not written; the message names the error and where the event is stored."""


class RejectedEventError(NotWrittenError):
    """The event can never be written unchanged; `rule` and `diff` explain why."""

    def __init__(self, message: str, *, rule: str, diff: Sequence[str]) -> None:
        self.rule = rule
        self.diff = tuple(diff)
        super().__init__(message)


class UndeliveredEventError(NotWrittenError):
    """The registry or Kafka did not accept the event in time; the event itself is valid."""

    retriable = True


# --- operations and jobs --------------------------------------------------------------------


class OperationError(PenstockError):
    """An operator's request cannot be carried out."""


class JobError(PenstockError):
    """An error that stops a job until an operator decides."""


class CheckpointError(JobError):
    """The checkpoint cannot be used as it is."""


class CheckpointInUseError(JobError):
    """Another job uses the checkpoint."""


class LostRecordsError(JobError):
    """Kafka deleted records before they were read."""


# --- sinks ----------------------------------------------------------------------------------


class SinkError(PenstockError):
    """A row cannot be stored."""


class UnroutableError(SinkError):
    """The record lacks a field that identifies its row."""

    reason = Reason.UNROUTABLE


class SinkRefusedError(SinkError):
    """The table rejects the row, for example because of a value that it cannot hold."""

    reason = Reason.SINK_REFUSED


class RowTooLargeError(SinkRefusedError):
    """The row is larger than the 400 KB that a table takes."""

    reason = Reason.OVERSIZE


class RowExistsError(SinkError):
    """A row exists under this key already; it is not changed."""

    item: Mapping[str, Any] | None = None  # the row, if the request asks for it


class ObjectMissingError(SinkError):
    """An object that a row refers to is not in its bucket."""


class LakeHistoryError(SinkError):
    """It is unknown if a batch is in a table, or a table to be created has files already."""


class SinkAccessDeniedError(SinkError):
    """The table or bucket denies access; the record is retried, not given up."""

    retriable = True


class SinkUnavailableError(SinkError):
    """The table or bucket is throttling, down, missing or too slow."""

    retriable = True
