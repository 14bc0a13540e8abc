"""The tasks that write Kafka's records to DynamoDB tables, decoded as the Lambda function does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import groupby
from typing import Any, Final

from penstock.errors import Failure, FramingError, PenstockError, Reason
from penstock.framing import Frame, Framing, SchemaKey
from penstock.records import (
    FailedRecord,
    Projection,
    Record,
    RowShape,
    Source,
    Tombstone,
    make_deletion,
    make_row,
    read_key,
)
from penstock.registry import RegistrySettings
from penstock.schemas import compile_event_decoder
from penstock.spark.failures import STAGE, ErrorSink, in_chunks, to_bytes, to_headers
from penstock.spark.query.dynamodb import (
    Follower,
    KeySchemas,
    Pace,
    connect,
    load_key_registries,
)
from penstock.spark.query.versions import IDS_AT_ONCE
from penstock.staging import STAGING_TIME

_MAX_COMPILED: Final = 5_000


@dataclass(frozen=True, slots=True)
class RecordTable:
    """A DynamoDB table of staged rows.

    Attributes:
        table: its name.
        shape: the key, order and mode of its rows, by the names of columns.
        columns: the fields that become columns, and their names.
        rows_per_second: a limit for all executors together; None leaves it to the table.
        key_schemas: the registries of Avro keys.
        follower: takes the rows that the table has.
        is_driver: whether its rows are joined, and so written after those of other tables.
    """

    table: str
    shape: RowShape
    columns: Projection
    rows_per_second: float | None = None
    key_schemas: RegistrySettings | None = None
    follower: Follower | None = None
    is_driver: bool = False


@dataclass(slots=True)
class Tally:
    """The counts of a table's records in one pass; `unknown` has the most frequent keys."""

    counts: Counter[str] = field(default_factory=Counter)
    filed: Counter[Reason] = field(default_factory=Counter)
    unknown: Counter[SchemaKey] = field(default_factory=Counter)
    followed: Counter[Any] = field(default_factory=Counter)
    awaited: set[str] = field(default_factory=set)

    def add(self, other: Tally) -> None:
        """Add other counts."""
        self.counts.update(other.counts)
        self.filed.update(other.filed)
        self.unknown.update(other.unknown)
        self.followed.update(other.followed)
        self.awaited |= other.awaited

    def note_unknown(self, key: SchemaKey) -> None:
        """Count a record of an unknown version; random ids must not fill the memory."""
        self.counts["unknown"] += 1
        self.unknown[key] += 1
        if len(self.unknown) > 2 * IDS_AT_ONCE:
            self.unknown = Counter(dict(self.unknown.most_common(IDS_AT_ONCE)))


@dataclass(frozen=True, slots=True)
class TaskTable:
    """A table, how its records are decoded, and which are not written; sent to the executors.

    Attributes:
        table: where the rows go.
        versions: the schema and the number of each version.
        merged: the schema that events are read with.
        refused: the failures of versions that the last lookup refused.
        others: the failure of versions that are not looked up.
        decided: the keys whose records an earlier pass took, with all that have no schema key;
            None in the first pass.
    """

    table: RecordTable
    versions: Mapping[SchemaKey, tuple[str, int]]
    merged: str
    refused: Mapping[SchemaKey, Failure]
    others: Failure | None
    decided: frozenset[SchemaKey] | None


@dataclass(frozen=True, slots=True)
class WriteRecords:
    """The task that writes the records of a partition; sent to the executors."""

    by_topic: Mapping[str, str]
    tables: Mapping[str, TaskTable]
    framing: Framing
    errors: ErrorSink
    now: str
    tasks: int

    def __call__(self, rows: Iterable[Any]) -> Iterator[dict[str, Tally]]:
        """Write the records; those of a topic follow each other, as Kafka's source reads them."""
        writers: dict[str, _TableWriter] = {}
        for name, own in groupby(rows, key=lambda row: self.by_topic[row["topic"]]):
            if name not in writers:
                writers[name] = _TableWriter(self, self.tables[name])
            for chunk in in_chunks(own):
                writers[name].write(chunk)
        yield {name: each.tally for name, each in writers.items()}


@dataclass(frozen=True, slots=True)
class ReleaseRows:
    """The task that releases what waits for rows, by table; sent to the executors."""

    followers: Mapping[str, Follower | None]

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[str, Counter[Any]]]:
        for name, own in groupby(rows, key=lambda row: row["table"]):
            if follower := self.followers[name]:
                yield name, follower.release([row["row"] for row in own])


class _TableWriter:
    """Writes the records of one table in one task."""

    def __init__(self, task: WriteRecords, given: TaskTable) -> None:
        table = given.table
        self.tally = Tally()
        self._task = task
        self._given = given
        self._shape = table.shape
        self._writer = connect(table.table, table.shape)
        self._keys = KeySchemas(load_key_registries(table.key_schemas))
        rate = table.rows_per_second
        self._pace = Pace(None if rate is None else rate / task.tasks)
        self._column = cache(table.columns.name)

    def write(self, chunk: Sequence[Any]) -> None:
        """Write the rows and deletions of a chunk, and store its dead letters."""
        made: list[tuple[Record, dict[str, Any]]] = []
        given_up: list[FailedRecord] = []
        for record in map(_read_record, chunk):
            try:
                read = self._read(record)
            except PenstockError as error:
                read = Failure.of(error)  # a retriable one is raised again
            if isinstance(read, Failure):
                given_up.append(self._give_up(record, read))
            elif read is not None:
                made.append((record, read))
        refused = self._writer.write([row for _, row in made])
        given_up += [self._give_up(made[at][0], Failure.of(each)) for at, each in refused.items()]
        self._task.errors.keep(given_up)
        self._pace.wait(len(made))
        written = [each for at, each in enumerate(made) if at not in refused]
        if self._given.decided is None:
            self.tally.counts["records"] += len(chunk)
        self.tally.counts["tombstones"] += sum(record.value is None for record, _ in written)
        self.tally.counts["rows"] += sum(record.value is not None for record, _ in written)
        self.tally.filed.update(each.failure.reason for each in given_up)
        if follower := self._given.table.follower:
            rows = [(row, partial(self._give_up, record)) for record, row in written]
            self.tally.followed += follower.follow(rows)
            self.tally.awaited.update(follower.find_awaited(rows))

    def _read(self, record: Record) -> dict[str, Any] | Failure | None:
        """Return the row of a record, or its failure; None if there is nothing to write.

        Raises:
            PenstockError: the record cannot be read.
        """
        given = self._given
        try:
            frame = self._task.framing.decode(record.value, record.headers, record.source.topic)
        except FramingError:
            if given.decided is None:
                raise
            return None
        if given.decided is not None and (frame is None or frame.key in given.decided):
            return None
        if frame is None:
            return self._delete(record)
        if version := given.versions.get(frame.key):
            return self._make(record, frame, *version)
        if failure := given.refused.get(frame.key, given.others):
            return failure
        self.tally.note_unknown(frame.key)
        return None

    def _make(
        self, record: Record, frame: Frame, schema: str, number: int
    ) -> dict[str, Any] | None:
        decoded = _compile(schema, self._given.merged)(frame.payload)
        named = ((self._column(name), value) for name, value in decoded.items())
        event = {name: value for name, value in named if name is not None}
        columns = self._given.table.columns
        if columns.fields and not columns.keeps_empty and set(event.values()) <= {""}:
            self.tally.counts["empty"] += 1
            return None
        event[STAGING_TIME] = self._task.now
        key_fields = self._read_key(record)
        return make_row(self._shape, event, record, number, str(frame.key), key_fields=key_fields)

    def _delete(self, record: Record) -> dict[str, Any] | None:
        if self._shape.tombstone is Tombstone.DELETE:
            return make_deletion(self._shape, record, self._read_key(record))
        self.tally.counts["tombstones"] += 1
        return None

    def _read_key(self, record: Record) -> Mapping[str, Any] | None:
        return read_key(self._shape, record, self._keys.framing, self._keys.find)

    def _give_up(self, record: Record, failure: Failure) -> FailedRecord:
        source = record.source
        key = self._task.framing.read_key(record.value, record.headers, source.topic)
        return FailedRecord.of(record, failure, key, STAGE)


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(schema: str, merged: str) -> Callable[[bytes], dict[str, Any]]:
    return compile_event_decoder(json.loads(schema), json.loads(merged))


def _read_record(row: Any) -> Record:
    return Record(
        Source(row["topic"], row["partition"], row["offset"]),
        to_bytes(row["key"]),
        to_bytes(row["value"]),
        to_headers(row["headers"] if "headers" in row else None),
        row["timestamp_ms"],
    )
