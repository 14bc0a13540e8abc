"""Dead letters of Spark's executors: the reason of each, and the tasks that write them.

Spark reports that a record is not a value of its schema, but not why. The executors decode these
few records once more, with the code that the Lambda functions use.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import (
    Failure,
    PenstockError,
    Reason,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SinkAccessDeniedError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.framing import Framing, SchemaKey
from penstock.records import FailedRecord, Record, Source
from penstock.registry import SchemaVersion
from penstock.schemas import compile_decoder, merge_schemas
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore
from penstock.spark.filter_counts import FilterCounts

_Result = TypeVar("_Result")

_LOG = logging.getLogger(__name__)

STAGE: Final = "spark"  # the stage that a dead letter names
_ROWS_AT_ONCE: Final = 100
_KINDS: Final = {
    kind.__name__: kind
    for kind in (
        RegistryAccessDeniedError,
        RegistryAnswerError,
        RegistryUnavailableError,
        SinkAccessDeniedError,
        SinkRefusedError,
        SinkUnavailableError,
    )
}
_LINE: Final = re.compile(rf"^penstock\.errors\.({'|'.join(_KINDS)}): (.*)$", re.MULTILINE)
_MAX_COMPILED: Final = 200


class ErrorSink(Protocol):
    """A sink for records that were given up; it is sent to the executors."""

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Store records; records that are stored already are not changed."""


@dataclass(frozen=True, slots=True)
class DynamoDbErrors:
    """The dead-letter table, and a bucket for what no row of it can hold."""

    table: str
    parked_bucket: str

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Store records with the writer that the Lambda functions use."""
        if records:
            _connect(self).keep(records)


@dataclass(frozen=True, slots=True)
class LoggedErrors:
    """The log of the executors, for a query without a dead-letter table."""

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Log each record with its reason; its bytes stay in Kafka."""
        for each in records:
            _LOG.warning("%s: %s, %s", each.record.source, each.failure.reason, each.failure.detail)


@cache
def _connect(errors: DynamoDbErrors) -> ErrorTable:
    """Connect once per Python process, which runs one task at a time."""
    return ErrorTable(DynamoDbClient(), errors.table, ObjectStore(errors.parked_bucket))


@dataclass(frozen=True, slots=True)
class Judge:
    """Finds the reason why a record is given up; sent to the executors."""

    definitions: Mapping[SchemaKey, str]
    merged: str
    refused: Mapping[SchemaKey, Failure]
    framing: Framing
    others: Failure | None = None

    @classmethod
    def of_versions(
        cls,
        versions: Sequence[SchemaVersion],
        refused: Mapping[SchemaKey, Failure],
        framing: Framing,
        others: Failure | None = None,
    ) -> Judge:
        """Return a judge of records decoded with `versions`, or whose versions are `refused`.

        `others` is the failure of records of versions that were not looked up.
        """
        schemas = [each.schema for each in versions]
        return cls(
            {each.key: json.dumps(each.schema) for each in versions},
            json.dumps(merge_schemas(schemas)) if schemas else "",
            dict(refused),
            framing,
            others,
        )

    def judge(self, row: Any) -> FailedRecord:
        """Return the failed record for a row of the Kafka source."""
        record = Record(
            Source(row["topic"], row["partition"], row["offset"]),
            to_bytes(row["key"]),
            to_bytes(row["value"]),
            to_headers(row["headers"] if "headers" in row else None),
            row["timestamp_ms"],
        )
        key = self.framing.read_key(record.value, record.headers, record.source.topic)
        return FailedRecord.of(record, self._explain(record, row["status"]), key, STAGE)

    def _explain(self, record: Record, status: str) -> Failure:
        try:
            frame = self.framing.decode(record.value, record.headers, record.source.topic)
            if frame is not None and frame.key in self.refused:
                return self.refused[frame.key]
            if frame is not None and self.others:
                return self.others
            if frame is not None:
                _compile(self.definitions[frame.key], self.merged)(frame.payload)
        except PenstockError as error:
            return Failure.of(error)
        # Avro's codec and ours differ only for values that are invalid for a logical type.
        reason = Reason(status) if status in set(Reason) else Reason.UNDECODABLE
        return Failure(reason, "found a value that Avro allows, expected one that Spark can hold")


def file_errors(rows: DataFrame, judge: Judge, sink: ErrorSink) -> Counter[Reason]:
    """Store each record as a dead letter; return the number of records by reason.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some may be stored; storing all of them again
            is idempotent.
    """
    columns = ["topic", "partition", "offset", "key", "value", "status"]
    written = F.unix_millis("timestamp").alias("timestamp_ms")
    chosen = rows.select(*columns, written, *({"headers"} & set(rows.columns)))
    return count_by_reason(chosen, _File(judge.judge, sink))


@dataclass(frozen=True, slots=True)
class _File:
    """The task that makes failed records of the rows of a partition and stores them."""

    make: Callable[[Any], FailedRecord]
    sink: ErrorSink

    def __call__(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        for chunk in in_chunks(rows):
            failed = [self.make(row) for row in chunk]
            self.sink.keep(failed)
            yield Counter(each.failure.reason for each in failed)


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(definition: str, merged: str) -> Callable[[bytes], Any]:
    return compile_decoder(json.loads(definition), json.loads(merged))


def make_failed(row: Any, failure: Failure) -> FailedRecord:
    """Return the failed record of a row with the columns of `penstock.spark.rows`.

    `_kafka_timestamp` is in milliseconds.
    """
    record = Record(
        Source(row["_topic"], row["_kafka_partition"], row["_offset"]),
        to_bytes(row["_key"]),
        to_bytes(row["_value"]),
        to_headers(row["_headers"]),
        row["_kafka_timestamp"],
    )
    return FailedRecord.of(record, failure, SchemaKey.parse(row["_schema_id"]), STAGE)


def file_rows(rows: DataFrame, failure: Failure, sink: ErrorSink) -> Counter[Reason]:
    """Store rows that a sink cannot hold as dead letters, all with one failure.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some may be stored; storing all of them again
            is idempotent.
    """
    return count_by_reason(rows, _File(partial(make_failed, failure=failure), sink))


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
    # Spark reports queries only, and these rows ran as an RDD.
    dataset: Any = rows._jdf
    FilterCounts.report(dataset.queryExecution())
    return results


def in_chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield rows in lists of four DynamoDB requests; rejected ones are stored before the next."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_AT_ONCE)):
        yield chunk


def to_bytes(value: bytearray | None) -> bytes | None:
    """Return a record's key or value from a Spark row."""
    return None if value is None else bytes(value)


def to_headers(found: Iterable[Any] | None) -> tuple[tuple[str, bytes | None], ...]:
    """Return a record's headers from a Spark row."""
    return tuple((header["key"], to_bytes(header["value"])) for header in found or ())


def raise_sink_error(error: Exception) -> None:
    """Raise the error that ended a task, if the text of Spark's error names one of ours."""
    found = _LINE.search(str(error))
    if found is not None:
        raise _KINDS[found[1]](found[2]) from error
