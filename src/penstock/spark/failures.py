"""Dead letters of Spark jobs: the reason of each, and who stores them: the driver or executors."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from penstock.consuming import ErrorSink, KnownSchemas, RecordReader
from penstock.errors import (
    Failure,
    Reason,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
    RowTooLargeError,
    SinkAccessDeniedError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.framing import Framing, SchemaKey
from penstock.records import FailedRecord, Record
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore
from penstock.spark.filter_counts import report
from penstock.spark.rows import RAW, select_records, to_record

_Result = TypeVar("_Result")

_LOG = logging.getLogger(__name__)

STAGE: Final = "spark"  # the stage that a dead letter names
_ROWS_AT_ONCE: Final = 100  # four requests to DynamoDB
_MAX_COLUMNS: Final = 8_000_000  # of all records of a payload, as in Payload.java
_IN_DRIVER: Final = Lock()  # tables of a batch are written at once, and a sink is for one thread
_ERRORS_OF_TASKS: Final = {
    kind.__name__: kind
    for kind in (
        RegistryAccessDeniedError,
        RegistryAnswerError,
        RegistryUnavailableError,
        RowTooLargeError,
        SinkAccessDeniedError,
        SinkRefusedError,
        SinkUnavailableError,
    )
}
_ERROR_LINE: Final = re.compile(
    rf"^penstock\.errors\.({'|'.join(_ERRORS_OF_TASKS)}): (.*)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class DynamoDbErrors:
    """The dead-letter table, and the bucket for records that are too large for a row."""

    table: str
    parked_bucket: str

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Store records with the writer that the Lambda functions use."""
        if records:
            _connect(self).keep(records)


@dataclass(frozen=True, slots=True)
class LoggedErrors:
    """The log of the process that stores them, for a query without a dead-letter table."""

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Log each record with its reason; its bytes stay in Kafka."""
        for each in records:
            _LOG.warning("%s: %s, %s", each.record.source, each.failure.reason, each.failure.detail)


@cache
def _connect(errors: DynamoDbErrors) -> ErrorTable:
    """Connect once per Python process, which stores records for one task or table at a time."""
    return ErrorTable(DynamoDbClient(), errors.table, ObjectStore(errors.parked_bucket))


@dataclass(frozen=True, slots=True)
class FailureFinder:
    """Finds the reason why a record becomes a dead letter; runs on executors or in the driver.

    These few records are read again with the reader of the Lambda functions, because Spark only
    says that a record is not a value of its schema.
    """

    reader: RecordReader

    @classmethod
    def of(cls, framing: Framing, schemas: KnownSchemas) -> FailureFinder:
        """Return a finder for records of these versions."""
        return cls(RecordReader(framing, schemas, STAGE))

    def make_failed(self, bad: tuple[Record, str]) -> FailedRecord:
        """Return the failed record of a record and its status."""
        record, status = bad
        outcome = self.reader.read(record)
        if isinstance(outcome, FailedRecord):
            return outcome
        # The record is valid by its writer's schema: the status is the reason.
        return self.reader.give_up(record, _explain(Reason(status)))

    def make_failed_of_row(self, row: Any) -> FailedRecord:
        """Return the failed record of a row of the Kafka source."""
        return self.make_failed((to_record(row), row["status"]))


def _explain(reason: Reason) -> Failure:
    if reason is Reason.LOSSY_WIDENING:
        found = "a whole number that a double of another version would round"
        return Failure(reason, f"found {found}, expected one from -2^53 to 2^53")
    if reason is Reason.OVERSIZE:
        found = f"more than {_MAX_COLUMNS:,} columns in all records inside the payload"
        return Failure(reason, f"found {found}, with those of other versions, expected fewer")
    return Failure(reason, "found a value that Avro allows, expected one that Spark can hold")


def store_dead_letters(rows: DataFrame, finder: FailureFinder, sink: ErrorSink) -> Counter[Reason]:
    """Store each record as a dead letter; return the number of records by reason.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some records may be stored. Storing all of them
            again changes nothing.
    """
    return count_by_reason(
        select_records(rows, "status"), _StoreDeadLetters(finder.make_failed_of_row, sink)
    )


def store_in_driver(
    records: Iterable[tuple[Record, str]], finder: FailureFinder, sink: ErrorSink
) -> Counter[Reason]:
    """Store records, each with its status, as dead letters in this process, as they are few.

    Raises:
        SinkError: see `store_dead_letters`.
    """
    store = _StoreDeadLetters(finder.make_failed, sink)
    with _IN_DRIVER:
        return sum(store(records), Counter())


@dataclass(frozen=True, slots=True)
class _StoreDeadLetters:
    """The task that makes failed records of the rows of a partition, and stores them."""

    make_failed: Callable[[Any], FailedRecord]
    sink: ErrorSink

    def __call__(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        for chunk in in_chunks(rows):
            failed = [self.make_failed(row) for row in chunk]
            self.sink.keep(failed)
            yield Counter(each.failure.reason for each in failed)


def _make_failed(row: Any, failure: Failure) -> FailedRecord:
    return FailedRecord.of(to_record(row), failure, SchemaKey.parse(row["_schema_id"]), STAGE)


def store_rows_as_dead_letters(
    rows: DataFrame, failure: Failure, sink: ErrorSink
) -> Counter[Reason]:
    """Store the records of rows that a sink cannot hold as dead letters, all with one failure.

    The rows have the columns of `penstock.spark.rows`.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some records may be stored. Storing all of them
            again changes nothing.
    """
    chosen = rows.selectExpr(*RAW, "_schema_id")
    return count_by_reason(chosen, _StoreDeadLetters(partial(_make_failed, failure=failure), sink))


def count_by_reason(
    rows: DataFrame, task: Callable[[Iterable[Any]], Iterator[Counter[Reason]]]
) -> Counter[Reason]:
    """Run a task on each partition, and return the number of records given up, by reason.

    Raises:
        SinkError, RegistryError: the error that ended a task.
    """
    total: Counter[Reason] = Counter()
    for count in run_task(rows, task):
        total.update(count)
    return total


def run_task(rows: DataFrame, task: Callable[[Iterable[Any]], Iterator[_Result]]) -> list[_Result]:
    """Run a task on each partition, and return its results.

    Raises:
        SinkError, RegistryError: the error that ended a task.
    """
    try:
        results = rows.rdd.mapPartitions(task).collect()
    except Py4JJavaError as error:
        raise_sink_error(error)
        raise
    report(rows)
    return results


def in_chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists of rows; the dead letters of a list are stored before the next list is read."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_AT_ONCE)):
        yield chunk


def raise_sink_error(error: Exception) -> None:
    """Raise the error that ended a task, if the text of Spark's error names a Penstock error."""
    if found := _ERROR_LINE.findall(str(error)):
        name, message = found[-1]  # Python prints the cause of an error before the error itself
        raise _ERRORS_OF_TASKS[name](message) from error
