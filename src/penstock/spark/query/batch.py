"""Write one batch of records to the sinks, in parts that are the same when the batch comes again.

| part | records                                                                              |
| ---- | ------------------------------------------------------------------------------------ |
| 0    | records of the versions that were known when the batch began                         |
| 1    | in the first batch that has some, the compressed ones among them                     |
| 2, 3 | the same for versions that the batch looked up in its first round; 4, 5: its second   |

To inflate compressed records costs time for the others too, so the first batch that has some writes
them as parts of their own (1, 3, 5). Later batches inflate them with the others.

With routes by schema name, each table has its own versions, merge and parts, and records of a name
without a route are given up. A part is decoded, judged, counted and written in one pass. Only if
that pass finds unknown ids are they looked up, and the answers are written to the ledger before
anything that depends on them. So the ledger and a record together determine the record's part, and
a batch that comes again is split as before (docs/adr/20261121-parts-of-a-batch.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.errors import Failure
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.spark.decoding.frames import RowStatus, split_frames
from penstock.spark.failures import ErrorSink, Judge, file_errors
from penstock.spark.query.parts import FRAMED, Figures, Part, PartWriter
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import IDS_AT_ONCE, BatchVersions, VersionLookup
from penstock.spark.rows import Sink
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.staging import STAGING_TIME
from penstock.tables import BatchId


@dataclass(slots=True)
class _Batch:
    """A batch in progress: its records, the versions that it is split by, and its counts so far."""

    id: BatchId
    frames: DataFrame
    versions: BatchVersions
    figures: Figures = field(default_factory=Figures)

    def unknown(self) -> DataFrame:
        """Return the frames of versions that are neither known nor refused."""
        return self.frames.filter(f"{FRAMED} AND NOT {_among(self.versions.answered())}")


@dataclass(frozen=True, slots=True)
class TableSinks:
    """The sinks of a table, or of tables by schema name.

    Attributes:
        sinks: sinks for rows, written at once.
        tombstones: sinks for records without a value.
        columns: for a staged table, the fields that become columns, and their names.
    """

    sinks: Sequence[Sink] | Mapping[str, Sequence[Sink]]
    tombstones: Sequence[Sink] = ()
    columns: Projection | None = None


class Batches:
    """Takes the batches of one query, one after the other.

    `sinks` are for all records, or by schema name.
    """

    def __init__(
        self,
        spark: SparkSession,
        registries: Registries,
        ledger: Lookups,
        sinks: Sequence[Sink] | Mapping[str, Sequence[Sink]] | TableSinks,
        errors: ErrorSink,
    ) -> None:
        table = sinks if isinstance(sinks, TableSinks) else TableSinks(sinks)
        self._columns = table.columns
        self._framing = registries.framing
        self._errors = errors
        is_routed = isinstance(table.sinks, Mapping)
        by_name = table.sinks if isinstance(table.sinks, Mapping) else {"": table.sinks}
        self._writers = {
            name: PartWriter(
                each,
                errors,
                registries.framing,
                table.tombstones,
                table.columns,
                is_routed=is_routed,
            )
            for name, each in by_name.items()
        }
        self._lookup = VersionLookup(
            spark, registries, ledger, self._writers if is_routed else None, table.columns
        )

    def take(self, records: DataFrame, batch_id: BatchId) -> BatchCounts:
        """Write the records of a batch; this is idempotent.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: it is retriable, or not the fault of a record. The rest of the batch must
                not be given up; take the whole batch again.
        """
        batch = _Batch(batch_id, self._split(records), self._lookup.open(batch_id))
        self._write_known(batch)
        records_read = batch.figures.records
        if batch.figures.unknown:
            self._write_unknown(batch)
        figures = batch.figures
        figures.check(batch_id)
        if figures.has_compressed:
            self._lookup.note_compressed(batch.versions)
        return count_batch(records_read, figures, batch.versions)

    def needs_marker(self, number: int) -> bool:
        """Return whether a batch without records would be written to a sink."""
        return self._lookup.has_versions(number) and any(
            each.needs_marker for each in self._writers.values()
        )

    def _split(self, records: DataFrame) -> DataFrame:
        frames = split_frames(records, self._framing)
        if self._columns is None:
            return frames
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return frames.withColumn(STAGING_TIME, F.lit(now))

    def _write_unknown(self, batch: _Batch) -> None:
        """Write the records of unknown ids, by earlier lookups of this batch or new ones."""
        versions = batch.versions
        for lookup in self._lookup.earlier(versions):
            self._write_lookup(batch, lookup)
        while not versions.is_answered and (keys := _find_keys(batch.unknown())):
            self._write_lookup(batch, self._lookup.look_up(versions, keys))
            if len(keys) < IDS_AT_ONCE:
                break

    def _write_lookup(self, batch: _Batch, lookup: Lookup) -> None:
        batch.versions.lookups.append(lookup)
        self._write_each(batch, lookup.versions, 2 * lookup.round)
        self._give_up(batch, lookup.refused)
        if lookup.others:
            judge = Judge.of_versions((), {}, self._framing, lookup.others)
            batch.figures.file(file_errors(batch.unknown(), judge, self._errors))

    def _write_known(self, batch: _Batch) -> None:
        """Write part 0; the pass of the first table also judges records that no table takes."""
        first = next(iter(self._writers))
        others = [each for each in batch.versions.known if self._lookup.table_of(each) != first]
        elsewhere = f"IF({_among(each.key for each in others)}, '{RowStatus.ELSEWHERE}', status)"
        frames = batch.frames.withColumn("status", F.expr(elsewhere)) if others else batch.frames
        self._write_table(batch, first, frames, 0)
        self._write_each(batch, others, 0)

    def _write_each(self, batch: _Batch, versions: Sequence[SchemaVersion], part: int) -> None:
        """Write the records of these versions to their tables; give up those without a table."""
        for table in self._writers:
            if own := self._lookup.of_table(table, versions):
                rows = batch.frames.filter(_among(each.key for each in own))
                self._write_table(batch, table, rows, part)
        self._give_up(batch, self._lookup.find_unroutable(versions))

    def _write_table(self, batch: _Batch, table: str, frames: DataFrame, part: int) -> None:
        versions = self._lookup.of_table(table, batch.versions.all())
        where = Part(batch.id, part, batch.versions.inflates)
        self._writers[table].write(where, frames, versions, batch.figures)

    def _give_up(self, batch: _Batch, refused: Mapping[SchemaKey, Failure]) -> None:
        if refused:
            judge = Judge.of_versions((), refused, self._framing)
            rows = batch.frames.filter(_among(refused))
            batch.figures.file(file_errors(rows, judge, self._errors))


def count_batch(records: int, figures: Figures, versions: BatchVersions) -> BatchCounts:
    """Return the counts of a table's batch."""
    return BatchCounts(
        records,
        figures.rows,
        len(versions.all()),
        versions.count_new(),
        figures.errors,
        empty=figures.empty,
        tombstones=figures.tombstones,
    )


def _find_keys(frames: DataFrame) -> list[SchemaKey]:
    """Return the schema keys of frames, most frequent first; not all if there are very many."""
    counted = frames.groupBy("schema").count().orderBy(F.desc("count"), "schema")
    return [SchemaKey.unpack(bytes(row.schema)) for row in counted.limit(IDS_AT_ONCE).collect()]


def _among(keys: Iterable[SchemaKey]) -> str:
    """Return the condition that a frame has one of these keys."""
    listed = ", ".join(f"X'{each.pack().hex()}'" for each in keys)
    return f"schema IN ({listed})" if listed else "FALSE"
