"""Write rows to DynamoDB from Spark's executors: the same rows and dead letters as Lambda."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pyspark.sql import DataFrame

from penstock.errors import Failure, Reason, UnroutableError
from penstock.records import READING, Record, RowShape, Source, make_row
from penstock.schemas import compile_row_restorer
from penstock.sinks import DynamoDbClient, RowWriter, open_table
from penstock.spark.failures import ErrorSink, count_by_reason, in_chunks, make_failed
from penstock.spark.rows import COORDINATES, EVENT, RAW, event_schema, with_milliseconds
from penstock.tables import BatchId


@dataclass(frozen=True, slots=True)
class DynamoDbTables:
    """A DynamoDB table of readings, and a sink for records that it rejects.

    `rows_per_second` limits all executors together; None leaves the limit to the tables.
    """

    readings: str
    errors: ErrorSink
    rows_per_second: float | None = None
    shape: RowShape = READING

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write a row for every record; a batch that comes again writes the same rows.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be written; writing all of them
                again is idempotent.
        """
        chosen = with_milliseconds(rows).select(EVENT, *COORDINATES, *RAW)
        pace = None
        if self.rows_per_second is not None:
            # More tasks than these cannot run at once, even if executors are added meanwhile.
            cores = rows.sparkSession.sparkContext.defaultParallelism
            chosen = chosen.coalesce(cores)
            pace = self.rows_per_second / chosen.rdd.getNumPartitions()
        write = _Write(self, json.dumps(event_schema(rows)), pace)
        return count_by_reason(chosen, write)


@dataclass(frozen=True, slots=True)
class _Write:
    """The task that writes the rows of a partition; sent to the executors."""

    tables: DynamoDbTables
    schema: str
    rows_per_second: float | None

    def __call__(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        """Write the rows; store those that cannot be readings as dead letters."""
        readings = _connect(self.tables.readings, self.tables.shape)
        to_event = _load_event_reader(self.schema)
        pace = Pace(self.rows_per_second)
        for chunk in in_chunks(rows):
            made, given_up = [], []
            for row in chunk:
                try:
                    made.append((row, _make_row(row, to_event, self.tables.shape)))
                except UnroutableError as error:
                    given_up.append(make_failed(row, Failure.of(error)))
            refused = readings.write([reading for _, reading in made])
            given_up += [
                make_failed(made[place][0], Failure.of(error)) for place, error in refused.items()
            ]
            self.tables.errors.keep(given_up)
            pace.wait(len(chunk))
            yield Counter(each.failure.reason for each in given_up)


@cache
def _connect(table: str, shape: RowShape) -> RowWriter:
    """Connect once per Python process, which runs one task at a time."""
    return open_table(DynamoDbClient(), table, shape)


@cache
def _load_event_reader(schema: str) -> Any:
    return compile_row_restorer(json.loads(schema))


def _make_row(row: Any, to_event: Any, shape: RowShape) -> dict[str, Any]:
    event = to_event(row[EVENT])
    source = Source(row["_topic"], row["_kafka_partition"], row["_offset"])
    record = Record(source, None, None, timestamp_ms=row["_kafka_timestamp"])
    return make_row(shape, event, record, row["_schema_version"], row["_schema_id"])


class Pace:
    """Limits the rate of rows, the last ones too; None sets no limit."""

    def __init__(
        self,
        rows_per_second: float | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows_per_second = rows_per_second
        self._sleep = sleep
        self._clock = clock
        self._last = clock()

    def wait(self, rows: int) -> None:
        """Wait until these rows, just written, have taken their time; unused time is lost."""
        if self._rows_per_second is None:
            return
        owed = self._last + rows / self._rows_per_second - self._clock()
        if owed > 0:
            self._sleep(owed)
        self._last = self._clock()
