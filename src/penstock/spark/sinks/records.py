"""Tasks that write raw records to tables of rows, each by the reader of the consumer function.

A sink that reads records makes its rows in Python anyway, so each record is decoded where its row
is made (docs/adr/0011-one-way-for-a-record.md).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from pyspark.sql import DataFrame

from penstock.consuming import (
    AfterWrite,
    ErrorSink,
    KnownSchemas,
    OutcomeWriter,
    Pace,
    RecordReader,
    SchemaReaders,
    Written,
)
from penstock.errors import Reason
from penstock.framing import Framing, SchemaKey
from penstock.records import Outcome, Projection, Record, RowShape
from penstock.registry import SchemaVersion
from penstock.sinks import RowWriter
from penstock.spark.failures import STAGE, in_chunks, run_task
from penstock.spark.rows import EVENT, RAW, check_event, to_record
from penstock.spark.sinks.base import Part, Sink


class RecordSink(Sink, Protocol):
    """A sink that reads records; it is sent to the executors."""

    @property
    def shape(self) -> RowShape:
        """Return the form of its rows."""

    @property
    def columns(self) -> Projection | None:
        """Return the fields that are columns; without it, all are."""

    @property
    def errors(self) -> ErrorSink:
        """Return a sink for records that the table rejects."""

    @property
    def rows_per_second(self) -> float | None:
        """Return a limit for all executors together; None leaves it to the table."""

    @property
    def after_write(self) -> AfterWrite | None:
        """Return the step that takes the rows that the table has."""

    def open_writer(self) -> RowWriter:
        """Connect to the table, on an executor."""

    def load_keys(self) -> SchemaReaders:
        """Return the readers of Avro keys, on an executor."""


@dataclass(frozen=True, slots=True)
class RecordTables:
    """The tables that records of some topics go to, and how the records are read.

    It is sent to the executors.

    Attributes:
        sinks: the sinks by schema name; the sink named `""` gets all records.
        schemas: the versions of the records.
        framing: how schema ids are found.
        decided: the keys whose records an earlier pass took, with all that have no schema key;
            None in the first pass.
        constant: the text in the constant column.
    """

    sinks: Mapping[str, RecordSink]
    schemas: KnownSchemas
    framing: Framing
    decided: frozenset[SchemaKey] | None = None
    constant: str = ""

    def find(self, record: Record) -> str:
        """Return the name of the sink that takes a record, or of the first one that gives it up."""
        first = next(iter(self.sinks))
        if len(self.sinks) == 1:
            return first
        key = self.framing.read_key(record.value, record.headers, record.source.topic)
        version = self.schemas.versions.get(key) if key else None
        return version[1] if version else first


@dataclass(frozen=True, slots=True)
class WriteRecords:
    """The task that writes the records of a partition; sent to the executors.

    `tables` are by name, and the records of a topic in `by_topic` go to those it names; others go
    to those that are named `""`. There are so many `tasks`.
    """

    tables: Mapping[str, RecordTables]
    by_topic: Mapping[str, str]
    tasks: int

    def __call__(self, rows: Iterable[Any]) -> Iterator[dict[tuple[str, str], Written]]:
        """Write the records, a chunk at a time; those of a table keep their order."""
        writers: dict[tuple[str, str], _SinkWriter] = {}
        for chunk in in_chunks(map(to_record, rows)):
            by_place: dict[tuple[str, str], list[Record]] = {}
            for record in chunk:
                by_place.setdefault(self._find_table(record), []).append(record)
            for place, records in by_place.items():
                if place not in writers:
                    tables = self.tables[place[0]]
                    writers[place] = _SinkWriter(tables, tables.sinks[place[1]], self.tasks)
                writers[place].write(records)
        yield {place: each.written for place, each in writers.items()}

    def _find_table(self, record: Record) -> tuple[str, str]:
        name = self.by_topic.get(record.source.topic, "")
        return name, self.tables[name].find(record)


class _SinkWriter:
    """Writes the records of one sink in one task."""

    def __init__(self, tables: RecordTables, sink: RecordSink, tasks: int) -> None:
        rate = sink.rows_per_second
        self.written = Written()
        self._decided = tables.decided
        self._reader = RecordReader(
            framing=tables.framing,
            schemas=tables.schemas,
            stage=STAGE,
            shape=sink.shape,
            keys=sink.load_keys(),
            columns=sink.columns,
            constant=tables.constant,
        )
        self._writer = OutcomeWriter(
            sink.open_writer(),
            sink.errors,
            self._reader,
            Pace(None if rate is None else rate / tasks),
            sink.after_write,
        )

    def write(self, records: Iterable[Record]) -> None:
        """Write the rows and deletions of a chunk, and store its dead letters."""
        self.written.add(self._writer.write(map(self._read_record, records)))

    def _read_record(self, record: Record) -> Outcome:
        if self._decided is None:
            return self._reader.read(record)
        return self._reader.read_waiting(record, self._decided)


@dataclass(frozen=True, slots=True)
class _Release:
    """The task that releases what waits for rows, by table; sent to the executors."""

    steps: Mapping[str, AfterWrite]

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[str, Counter[Any]]]:
        for name, own in groupby(rows, key=lambda row: row["table"]):
            yield name, self.steps[name].release([row["row"] for row in own])


def describe_versions(versions: Iterable[SchemaVersion]) -> KnownSchemas:
    """Write versions for executors to read records with."""
    return KnownSchemas(
        {each.key: (json.dumps(each.schema), each.name, each.number) for each in versions}
    )


def write_records(
    records: DataFrame, tables: Mapping[str, RecordTables], by_topic: Mapping[str, str]
) -> dict[tuple[str, str], Written]:
    """Write records with the columns of Kafka's source, and return the counts of each sink.

    Raises:
        SinkError, RegistryError: the error that ended a task.
    """
    sinks = [sink for each in tables.values() for sink in each.sinks.values()]
    if any(each.rows_per_second is not None for each in sinks):
        # The limit is divided by the tasks, and more than these cannot run at once.
        records = records.coalesce(records.sparkSession.sparkContext.defaultParallelism)
    task = WriteRecords(tables, by_topic, records.rdd.getNumPartitions())
    found: dict[tuple[str, str], Written] = {}
    for written in run_task(records, task):
        for place, each in written.items():
            found.setdefault(place, Written()).add(each)
    return found


def write_rows(sink: RecordSink, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
    """Write the raw records of rows to one sink; return the records given up, by reason.

    What waits for the rows is released at once.
    """
    if EVENT in rows.columns:
        check_event(rows)
    schemas = describe_versions(part.versions)
    tables = RecordTables({"": sink}, schemas, part.framing, constant=part.constant)
    (written,) = write_records(rows.selectExpr(*RAW), {"": tables}, {}).values() or (Written(),)
    given_up = Counter(written.failed)
    if step := sink.after_write:
        given_up += step.report(written.after)
        given_up += release_rows(rows, {"": step}, {"": written.awaited})[""]
    return given_up


def release_rows(
    records: DataFrame, steps: Mapping[str, AfterWrite], awaited: Mapping[str, set[str]]
) -> dict[str, Counter[Reason]]:
    """Release rows that wait for other rows; return the records given up, by table and reason."""
    names = sorted((table, row) for table, rows in awaited.items() for row in rows)
    found: dict[str, Counter[Any]] = {table: Counter() for table in steps}
    if names:
        rows = records.sparkSession.createDataFrame(names, "table string, row string")
        for table, counts in run_task(rows, _Release(steps)):
            found[table].update(counts)
    return {table: steps[table].report(counts) for table, counts in found.items()}
