"""Write rows to DynamoDB from Spark's executors: the same rows and dead letters as Lambda."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Protocol, TypeVar

from pyspark.sql import DataFrame

from penstock.errors import Failure, PenstockError, Reason, SchemaNotFoundError
from penstock.framing import SchemaKey
from penstock.records import (
    READING,
    FailedRecord,
    Record,
    RowShape,
    Source,
    make_deletion,
    make_row,
    read_key,
)
from penstock.registry import Registries, RegistrySettings
from penstock.schemas import compile_event_decoder, compile_row_restorer
from penstock.sinks import DynamoDbClient, RowWriter, open_table
from penstock.spark.failures import (
    STAGE,
    ErrorSink,
    count_by_reason,
    in_chunks,
    make_failed,
    to_bytes,
    to_headers,
)
from penstock.spark.rows import EVENT, RAW, event_schema, with_milliseconds
from penstock.tables import COORDINATES, BatchId

_MAX_UNKNOWN: Final = 100  # as in a batch of the consumer function
_Item = TypeVar("_Item")
# A row, and the function that gives up its record.
Written = tuple[dict[str, Any], Callable[[Failure], FailedRecord]]


class Follower(Protocol):
    """A step after the writing of rows; sent to the executors."""

    def follow(self, written: Sequence[Written]) -> Counter[Any]:
        """Take a chunk of rows that the table has; return counts."""

    def find_awaited(self, written: Sequence[Written]) -> list[str]:
        """Return the names of those rows that are to be released."""

    def release(self, awaited: Iterable[str]) -> Counter[Any]:
        """Release rows by their names; return counts."""

    def report(self, counts: Counter[Any]) -> Counter[Reason]:
        """Report counts on the driver; return those of records that were given up, by reason."""


@dataclass(frozen=True, slots=True)
class _DynamoDbSink:
    """A DynamoDB table, and a sink for records that it rejects.

    Executors look up the schemas of Avro keys in `key_schemas`.
    """

    table: str
    errors: ErrorSink
    shape: RowShape = READING
    key_schemas: RegistrySettings | None = None
    follower: Follower | None = None

    def load_keys(self) -> KeySchemas:
        """Return the readers of Avro keys for one task."""
        return KeySchemas(load_key_registries(self.key_schemas))

    def write_chunk(
        self,
        items: Iterable[_Item],
        make: Callable[[_Item], dict[str, Any]],
        give_up: Callable[[_Item, Failure], FailedRecord],
    ) -> Counter[Any]:
        """Write what `make` returns for each item; store the others as dead letters.

        Returns: the counts of dead letters by reason, and those of the follower.
        """
        made, given_up = [], []
        for item in items:
            try:
                made.append((item, make(item)))
            except PenstockError as error:  # a retriable one is raised again
                given_up.append(give_up(item, Failure.of(error)))
        refused = connect(self.table, self.shape).write([row for _, row in made])
        given_up += [give_up(made[at][0], Failure.of(error)) for at, error in refused.items()]
        self.errors.keep(given_up)
        counts: Counter[Any] = Counter(each.failure.reason for each in given_up)
        if self.follower:
            written = [
                (row, partial(give_up, item))
                for at, (item, row) in enumerate(made)
                if at not in refused
            ]
            counts += self.follower.release(self.follower.find_awaited(written))
            counts += self.follower.follow(written)
        return counts


@dataclass(frozen=True, slots=True)
class DynamoDbTables(_DynamoDbSink):
    """A sink for rows.

    `rows_per_second` limits all executors together; None leaves the limit to the table.
    """

    rows_per_second: float | None = None

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
        return _report(self.follower, count_by_reason(chosen, write))


@dataclass(frozen=True, slots=True)
class _Write:
    """The task that writes the rows of a partition; sent to the executors."""

    sink: DynamoDbTables
    schema: str
    rows_per_second: float | None

    def __call__(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        """Write the rows; store those that the table cannot hold as dead letters."""
        make = partial(
            _make_row,
            to_event=_load_event_reader(self.schema),
            shape=self.sink.shape,
            keys=self.sink.load_keys(),
        )
        pace = Pace(self.rows_per_second)
        for chunk in in_chunks(rows):
            counts = self.sink.write_chunk(chunk, make, make_failed)
            pace.wait(len(chunk))
            yield counts


@dataclass(frozen=True, slots=True)
class DynamoDbDeletions(_DynamoDbSink):
    """A sink for tombstones, whose rows are deleted from a DynamoDB table of upserts.

    A deleted row keeps its key and order, so that an older record that arrives later does not
    restore it. A tombstone whose key names no row is a dead letter.
    """

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Delete the row of each tombstone that is newer than the row; this is idempotent.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be deleted; deleting all of them
                again is idempotent.
        """
        return _report(self.follower, count_by_reason(with_milliseconds(rows), self._delete))

    def _delete(self, rows: Iterable[Any]) -> Iterator[Counter[Reason]]:
        """Delete the rows of a partition's tombstones, on an executor."""
        keys = self.load_keys()

        def make(record: Record) -> dict[str, Any]:
            fields = read_key(self.shape, record, keys.framing, keys.find)
            return make_deletion(self.shape, record, fields)

        for chunk in in_chunks(rows):
            yield self.write_chunk(map(_read_record, chunk), make, _give_up)


def _report(follower: Follower | None, counts: Counter[Any]) -> Counter[Reason]:
    return follower.report(counts) if follower else counts


def _give_up(record: Record, failure: Failure) -> FailedRecord:
    return FailedRecord.of(record, failure, None, STAGE)


@cache
def connect(table: str, shape: RowShape) -> RowWriter:
    """Return a table's writer; those of a Python process, which runs one task, share a client."""
    return open_table(_open_client(), table, shape)


@cache
def _open_client() -> DynamoDbClient:
    return DynamoDbClient()


@cache
def _load_event_reader(schema: str) -> Any:
    return compile_row_restorer(json.loads(schema))


class KeySchemas:
    """The readers of the Avro keys of one task, which asks for 100 unknown schemas at most."""

    def __init__(self, registries: Registries) -> None:
        self.framing = registries.framing
        self._registries = registries
        self._readers: dict[SchemaKey, Callable[[bytes], Any]] = {}
        self._unknown: set[SchemaKey] = set()

    def find(self, key: SchemaKey) -> Callable[[bytes], Any]:
        """Return the function from the payload of a key to its value.

        Raises:
            SchemaNotFoundError: there is no such version, or too many others were unknown.
            RegistryError, SchemaError: see `SchemaRegistry.get`.
        """
        if reader := self._readers.get(key):
            return reader
        if len(self._unknown) >= _MAX_UNKNOWN and key not in self._unknown:
            raise SchemaNotFoundError(
                f"schema {key} of a key was not looked up, since {_MAX_UNKNOWN} others failed"
            )
        try:
            version = self._registries.find(key)
        except PenstockError as error:
            if not error.retriable:
                self._unknown.add(key)
            raise
        reader = self._readers[key] = compile_event_decoder(version.schema)
        return reader


@cache
def load_key_registries(settings: RegistrySettings | None) -> Registries:
    """Load the registries once per Python process; without settings there are none."""
    return settings.load() if settings else Registries([])


def _make_row(row: Any, to_event: Any, shape: RowShape, keys: KeySchemas) -> dict[str, Any]:
    event = to_event(row[EVENT])
    record = _read_record(row)
    key_fields = read_key(shape, record, keys.framing, keys.find)
    number, schema_id = row["_schema_version"], row["_schema_id"]
    return make_row(shape, event, record, number, schema_id, key_fields=key_fields)


def _read_record(row: Any) -> Record:
    """Return the record of a row without its value."""
    return Record(
        Source(row["_topic"], row["_kafka_partition"], row["_offset"]),
        to_bytes(row["_key"]),
        None,
        to_headers(row["_headers"]),
        row["_kafka_timestamp"],
    )


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
