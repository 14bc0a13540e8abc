"""Every error Penstock raises, as one tree.

PenstockError                       what a caller may catch to catch all of it
├── SettingsError                   settings that cannot work, every problem at once
├── EventError                      a JSON event that cannot become a record
│   ├── EventTextError              the text is not one JSON object as we accept it
│   ├── EventValueError             a field holds what no schema here can carry
│   └── EventLimitError             too deep, too many fields
├── FramingError                    the bytes around the payload
│   ├── UnknownFramingError         no frame we know
│   ├── TruncatedFrameError         the frame or its zlib stream ends too early
│   ├── CorruptFrameError           the zlib stream is broken or bytes follow its end
│   ├── InflateLimitError           inflating would pass the limit
│   └── NoRegistryForFramingError   a frame we know, of a registry we were not given
├── PayloadError                    the Avro bytes of one record, or a value for them
│   ├── TruncatedPayloadError       ends too early, or claims more than there is
│   ├── TrailingBytesError          bytes are left when the record is complete
│   ├── InvalidTextError            a string that is not valid UTF-8
│   ├── UndecodablePayloadError     any other way of not being a value of its schema
│   ├── UnencodableValueError       a value that its schema cannot carry
│   └── LossyWideningError          reading it through the merge would round it
├── SchemaError                     a schema by itself
│   ├── InvalidSchemaError          not an Avro schema
│   ├── RecursiveSchemaError        contains itself
│   ├── SchemaLimitError            too deep, too many fields, definition too long
│   ├── SchemaConflictError         two versions contradict each other
│   └── VersionBudgetError          one version more than was allowed
├── RegistryError                   what a schema registry answered
│   ├── SchemaNotFoundError         no such schema or version
│   ├── SchemaForbiddenError        from a registry or schema not on the allow-list
│   ├── SchemaRefusedError          the version exists but nobody may use it
│   ├── IncompatibleSchemaError     the registry's compatibility rule says no
│   ├── SchemaQuotaError            the registry takes no further version
│   ├── RegistryAnswerError         an answer that cannot be right (retriable)
│   ├── RegistryAccessDeniedError   STS or the registry denies us (retriable)
│   └── RegistryUnavailableError    throttled, down or too slow (retriable)
├── BrokerError                     what Kafka answered, or did not
│   ├── BrokerLoginError            the broker refuses the credentials
│   ├── BrokerNameError             a bootstrap name does not resolve
│   ├── BrokerCertificateError      the certificate is of another name or authority
│   ├── BrokerUnavailableError      nothing answers (retriable)
│   ├── TopicNotFoundError          no such topic
│   ├── TopicForbiddenError         the principal may not use the topic or group
│   ├── TopicChangeError            a topic that exists cannot become as it is wanted
│   ├── RecordTooLargeError         a record larger than the topic takes
│   └── DeliveryError               a send that was not acknowledged in time (retriable)
├── NotWrittenError                 an event that a producer did not write, and why
│   ├── RejectedEventError          it can never be written as it is
│   └── UndeliveredEventError       the registry or Kafka did not take it (retriable)
├── OperationError                  what an operator asked for and cannot be done
├── JobError                        what stops a job, until somebody decides
│   ├── CheckpointError             the checkpoint cannot be used as it is
│   ├── CheckpointTakenError        another job works with the checkpoint
│   └── LostRecordsError            Kafka deleted records before they were read
└── SinkError                       where records end up
    ├── UnroutableError             a record that names no row to be kept in
    ├── SinkRefusedError            the table refuses the row, however often it is sent
    │   └── RowTooLargeError        larger than a table takes
    ├── RowExistsError              a row that was to be the first under its key
    ├── ObjectMissingError          what a row points to is not in its bucket
    ├── LakeHistoryError            whether a batch is in a table cannot be told
    ├── SinkAccessDeniedError       the table or bucket denies us (retriable)
    └── SinkUnavailableError        throttled, down, not there or too slow (retriable)

A message says what was found, what was expected and where, and ends without a period.
"""

# Longer than a module should be, on purpose: who looks for an error looks on one page.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self


class Reason(StrEnum):
    """Why a record was given up: the `reason` of an error record, the same in Lambda and Spark."""

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
    """Base of all errors: `retriable` says whether the same call may succeed later.

    `reason` is set where the error condemns a record for good; such a record goes to the error
    table under it.
    """

    retriable: ClassVar[bool] = False
    reason: ClassVar[Reason | None] = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross from one process to another, whatever arguments the error was made with."""
        return _restore, (type(self), self.args, self.__dict__)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a record is given up: what is left of the error that condemns it."""

    reason: Reason
    detail: str

    @classmethod
    def of(cls, error: PenstockError) -> Self:
        """Return the failure of a record; raise the error again where it condemns no record."""
        if error.reason is None:
            raise error
        return cls(error.reason, str(error))


def _restore(
    kind: type[PenstockError], args: tuple[Any, ...], fields: dict[str, Any]
) -> PenstockError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class SettingsError(PenstockError):
    """Settings that cannot work; `problems` lists each, naming its variable or flag."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Join the problems into one message, a line each when there are several."""
        self.problems = tuple(problems)
        separator = "\n  - "
        super().__init__(
            self.problems[0]
            if len(self.problems) == 1
            else f"{len(self.problems)} settings are wrong:{separator}{separator.join(problems)}"
        )


# --- events ---------------------------------------------------------------------------------


class EventError(PenstockError):
    """A JSON event that cannot become a record; `path` names the field, such as `a.b[]`."""

    def __init__(self, message: str, *, path: str = "") -> None:
        """Keep the path beside the message."""
        self.path = path
        super().__init__(message)


class EventTextError(EventError):
    """The text is not one JSON object as we accept it."""


class EventValueError(EventError):
    """A field holds what no schema here can carry."""


class EventLimitError(EventError):
    """The event is too deep or has too many fields."""


# --- frames ---------------------------------------------------------------------------------


class FramingError(PenstockError):
    """The bytes around the payload are not as a frame's must be."""


class UnknownFramingError(FramingError):
    """The value starts like no frame we know."""

    reason = Reason.UNKNOWN_FRAMING


class TruncatedFrameError(FramingError):
    """The frame, or the zlib stream inside it, ends too early."""

    reason = Reason.TRUNCATED


class CorruptFrameError(FramingError):
    """The zlib stream is broken, or bytes follow its end."""

    reason = Reason.UNDECODABLE


class InflateLimitError(FramingError):
    """Inflating the payload would pass the limit."""

    reason = Reason.INFLATE_LIMIT


class NoRegistryForFramingError(FramingError):
    """The frame is one we know, of a registry that we were not given."""

    reason = Reason.NO_REGISTRY_FOR_FRAMING


# --- payloads -------------------------------------------------------------------------------


class PayloadError(PenstockError):
    """The Avro bytes of one record, or a value for them, do not fit the schema.

    `path` names the field, such as `a.b[0]`.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        """Keep the path beside the message."""
        self.path = path
        super().__init__(message)


class TruncatedPayloadError(PayloadError):
    """The payload ends too early, or claims a size larger than what is left of it."""

    reason = Reason.TRUNCATED


class TrailingBytesError(PayloadError):
    """Bytes are left when the record is complete."""

    reason = Reason.TRAILING_BYTES


class InvalidTextError(PayloadError):
    """A string is not valid UTF-8."""

    reason = Reason.INVALID_TEXT


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
    """The schema contains itself, which no bounded decoder may follow."""

    reason = Reason.RECURSIVE_SCHEMA


class SchemaLimitError(SchemaError):
    """The schema is too deep, has too many fields, or its definition is too long."""

    reason = Reason.UNDECODABLE


class SchemaConflictError(SchemaError):
    """Two versions of a schema contradict each other; `path` names the field."""

    reason = Reason.SCHEMA_CONFLICT

    def __init__(self, message: str, *, path: str = "") -> None:
        """Keep the path beside the message."""
        self.path = path
        super().__init__(message)


class VersionBudgetError(SchemaError):
    """Registering would make one version more than was allowed."""


# --- registries -----------------------------------------------------------------------------


class RegistryError(PenstockError):
    """A schema registry refused, or did not answer."""


class SchemaNotFoundError(RegistryError):
    """No such schema or version."""

    reason = Reason.UNKNOWN_SCHEMA


class SchemaForbiddenError(RegistryError):
    """The schema comes from a registry, or has a name, that is not on the allow-list."""

    reason = Reason.FORBIDDEN_SCHEMA


class SchemaRefusedError(RegistryError):
    """The version exists, but the registry's rule or the versions below it refuse it."""

    reason = Reason.REFUSED_SCHEMA


class IncompatibleSchemaError(RegistryError):
    """The registry's compatibility rule refuses the version; `rule` and `diff` say why."""

    def __init__(self, message: str, *, rule: str, diff: str) -> None:
        """Keep the rule and the readable diff beside the message."""
        self.rule = rule
        self.diff = diff
        super().__init__(message)


class SchemaQuotaError(RegistryError):
    """The registry takes no further registry, schema or version."""


class RegistryAnswerError(RegistryError):
    """The registry's answer cannot be right: another version than was asked for, no schema ARN."""

    retriable = True


class RegistryAccessDeniedError(RegistryError):
    """STS or the registry denies the call: the record waits, it is not given up."""

    retriable = True


class RegistryUnavailableError(RegistryError):
    """The registry is throttling, down or too slow."""

    retriable = True


# --- brokers --------------------------------------------------------------------------------


class BrokerError(PenstockError):
    """Kafka refused, or did not answer."""


class BrokerLoginError(BrokerError):
    """The broker refuses the credentials."""


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
    """The principal may not use the topic or group."""


class TopicChangeError(BrokerError):
    """The topic exists and cannot become as it is wanted."""


class RecordTooLargeError(BrokerError):
    """The record is larger than the client or the topic takes."""

    reason = Reason.OVERSIZE


class DeliveryError(BrokerError):
    """A send was not acknowledged before its deadline; whether it was written is unknown."""

    retriable = True


# --- producers ------------------------------------------------------------------------------


class NotWrittenError(PenstockError):
    """An event is not written; its message says which error stopped it and where it is kept."""


class RejectedEventError(NotWrittenError):
    """The event can never be written as it is; `rule` and `diff` say why."""

    def __init__(self, message: str, *, rule: str, diff: Sequence[str]) -> None:
        """Keep the rule and the readable diff beside the message."""
        self.rule = rule
        self.diff = tuple(diff)
        super().__init__(message)


class UndeliveredEventError(NotWrittenError):
    """The registry or Kafka did not take the event in time; nothing is wrong with it."""

    retriable = True


# --- sinks ----------------------------------------------------------------------------------


class OperationError(PenstockError):
    """What an operator asked for cannot be done."""


class JobError(PenstockError):
    """What stops a job, until somebody decides."""


class CheckpointError(JobError):
    """The checkpoint cannot be used as it is."""


class CheckpointTakenError(JobError):
    """Another job works with the checkpoint."""


class LostRecordsError(JobError):
    """Kafka deleted records before they were read."""


class SinkError(PenstockError):
    """A row cannot be kept."""


class UnroutableError(SinkError):
    """The record lacks what would name its row."""

    reason = Reason.UNROUTABLE


class SinkRefusedError(SinkError):
    """The table refuses the row, such as for a value that it cannot hold."""

    reason = Reason.SINK_REFUSED


class RowTooLargeError(SinkRefusedError):
    """The row is larger than the 400 KB that a table takes."""

    reason = Reason.OVERSIZE


class RowExistsError(SinkError):
    """There is a row under this key already, and it stays as it is."""


class ObjectMissingError(SinkError):
    """What a row points to is not in its bucket."""


class LakeHistoryError(SinkError):
    """Whether a batch is in a table cannot be told, so writing it might write it twice."""


class SinkAccessDeniedError(SinkError):
    """The table or bucket denies the call: the record waits, it is not given up."""

    retriable = True


class SinkUnavailableError(SinkError):
    """The table or bucket is throttling, down, not there or too slow."""

    retriable = True
