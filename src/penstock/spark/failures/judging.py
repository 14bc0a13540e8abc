"""Records that cannot be decoded into the table of errors, each with the reason that ours gives.

Spark says that a record is no value of its schema, but not why. These few are read once more by the
code that the functions use, on the executors.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Protocol
from uuid import UUID

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import NoRegistryForFramingError, PenstockError, Reason
from penstock.framing import FrameKind, decode_frame
from penstock.registry import SchemaVersion
from penstock.schemas import compile_decoder, merge_schemas
from penstock.sinks import DynamoDbClient, ErrorRecord, ErrorTable, Parking, Source
from penstock.spark.failures.tasks import STAGE, count_by_reason, in_chunks, to_bytes, to_headers
from penstock.spark.state.schema_ledger import Refusal

_LOG = logging.getLogger(__name__)
_MAX_COMPILED: Final = 200


class ErrorSink(Protocol):
    """Where records that were given up are kept, each once; it is sent to the executors."""

    def keep(self, records: Sequence[ErrorRecord]) -> None:
        """Keep records; those that are there stay as they are."""


@dataclass(frozen=True, slots=True)
class DynamoDbErrors:
    """The table of errors, and a bucket for what no row of it can hold."""

    table: str
    parked_bucket: str

    def keep(self, records: Sequence[ErrorRecord]) -> None:
        """Keep records by the writer that the functions use."""
        _connect(self).keep(records)


@dataclass(frozen=True, slots=True)
class LoggedErrors:
    """The log of the executors, for a query without a table of errors."""

    def keep(self, records: Sequence[ErrorRecord]) -> None:
        """Name each record with its reason; its bytes stay in Kafka."""
        for record in records:
            _LOG.warning("%s: %s, %s", record.source, record.reason, record.detail)


@cache
def _connect(errors: DynamoDbErrors) -> ErrorTable:
    """Connect once in each Python process, which runs one task after the other."""
    return ErrorTable(DynamoDbClient(), errors.table, Parking(errors.parked_bucket))


@dataclass(frozen=True, slots=True)
class Judge:
    """Says why records are given up; sent to the executors."""

    definitions: Mapping[str, str]  # by the version's id
    merged: str
    refused: Mapping[str, Refusal]

    @classmethod
    def of_versions(
        cls, versions: Sequence[SchemaVersion], refused: Mapping[str, Refusal]
    ) -> Judge:
        """Judge records that were decoded with these versions, or whose versions are refused."""
        schemas = [each.schema for each in versions]
        return cls(
            {each.id: json.dumps(each.schema) for each in versions},
            json.dumps(merge_schemas(schemas)) if schemas else "",
            dict(refused),
        )

    def judge(self, row: Any) -> ErrorRecord:
        """Make the error of a record of the Kafka source."""
        value = to_bytes(row["value"])
        found = row["headers"] if "headers" in row else None
        headers = to_headers(found)
        reason, detail = self._explain(value, headers, row["status"])
        return ErrorRecord(
            Source(row["topic"], row["partition"], row["offset"]),
            row["timestamp_ms"],
            reason,
            detail,
            None if row["schema"] is None else str(UUID(bytes=bytes(row["schema"]))),
            to_bytes(row["key"]),
            value,
            headers,
            time.time_ns() // 1_000_000,
            STAGE,
        )

    def _explain(self, value: bytes | None, headers: Any, status: str) -> tuple[Reason, str]:
        try:
            frame = decode_frame(value, headers)
            if frame is not None and frame.kind is not FrameKind.GLUE:
                raise NoRegistryForFramingError(
                    f"found a frame of {frame.kind} with schema id {frame.schema_id}, expected one "
                    "of Glue"
                )
            version_id = str(frame.schema_id) if frame else ""
            if version_id in self.refused:
                refusal = self.refused[version_id]
                return refusal.reason, refusal.detail
            if frame is not None:
                _compile(self.definitions[version_id], self.merged)(frame.payload)
        except PenstockError as error:
            if error.reason is None:
                raise
            return error.reason, str(error)
        # Avro's own codec and ours agree but for values that a logical type does not have.
        reason = Reason(status) if status in set(Reason) else Reason.UNDECODABLE
        return reason, "found a value that Avro allows, expected one that Spark can hold"


def file_errors(rows: DataFrame, judge: Judge, sink: ErrorSink) -> Counter[Reason]:
    """Keep the error of each record; count them by reason.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some may be kept, and keeping all of them
            again does no harm.
    """
    columns = ["topic", "partition", "offset", "key", "value", "status", "schema"]
    written = F.unix_millis("timestamp").alias("timestamp_ms")
    chosen = rows.select(*columns, written, *({"headers"} & set(rows.columns)))
    return count_by_reason(chosen.rdd, _File(judge, sink))


@dataclass(frozen=True, slots=True)
class _File:
    """What a task does with its rows."""

    judge: Judge
    sink: ErrorSink

    def __call__(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        for chunk in in_chunks(rows):
            records = [self.judge.judge(row) for row in chunk]
            self.sink.keep(records)
            yield Counter(record.reason for record in records)


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(definition: str, merged: str) -> Callable[[bytes], Any]:
    return compile_decoder(json.loads(definition), json.loads(merged))
