"""Write one batch of records to the sinks, in parts that are the same if the batch is repeated.

| part | records                                                                        |
| ---- | ------------------------------------------------------------------------------ |
| 0    | records of the versions that were known when the batch began                   |
| 1    | records of the versions that the first round of look-ups found                 |
| 2    | records of the versions that the second round found, and so on                 |

With routes by schema name, each table has its own merge and parts, and a record whose schema name
has no route becomes a dead letter. A part is decoded, checked, counted and written in one pass. If
that pass finds unknown ids, they are looked up, and the results are written to the ledger before
any row that depends on them. So the ledger and a record determine the record's part, and a repeated
batch has the same parts (docs/adr/0012-parts-of-a-batch.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.consuming import KnownSchemas
from penstock.errors import Failure
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion
from penstock.spark.decoding.frames import RowStatus, split_frames
from penstock.spark.decoding.keeper import RecordKeeper
from penstock.spark.failures import FailureFinder, store_dead_letters
from penstock.spark.query.concurrently import Lanes
from penstock.spark.query.parts import FRAMED, BatchContext, Figures, PartFrames, PartWriter
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import IDS_AT_ONCE, BatchVersions, VersionLookup, rank_keys
from penstock.spark.sinks.base import Part
from penstock.spark.sinks.table import TableGroup
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.tables import BatchId


@dataclass(slots=True)
class _Batch:
    """A batch in progress: its records, the versions that determine its parts, and its counts.

    After part 0, `frames` are those of unknown versions, if the pass has kept them in `keeper`.
    """

    id: BatchId
    frames: DataFrame
    versions: BatchVersions
    constant: str = ""
    keeper: RecordKeeper | None = None
    figures: Figures = field(default_factory=Figures)
    may_have_unknown: bool = True  # keys that are in no look-up yet

    def select(self, frames: DataFrame, keys: Collection[SchemaKey]) -> PartFrames:
        """Return those of the batch's frames that have one of these keys."""
        return PartFrames(frames.filter(is_among(keys)), are_known=True)

    def select_others(self, keys: Collection[SchemaKey]) -> PartFrames:
        """Return all frames; those with one of these keys belong elsewhere, or are left out."""
        status = F.expr(f"IF({is_among(keys)}, '{RowStatus.ELSEWHERE}', status)")
        return PartFrames(self.frames.withColumn("status", status) if keys else self.frames)

    def select_unknown(self) -> DataFrame:
        """Return the frames whose schema keys no look-up has answered."""
        return self.select_others(self.versions.answered()).rows.filter(FRAMED)

    def find_keys(self) -> list[SchemaKey]:
        """Return the unknown schema keys, most frequent first, at most `IDS_AT_ONCE` of them."""
        if not self.may_have_unknown:
            return []
        keys = (
            read_keys(self.select_unknown(), ())
            if self.keeper is None
            else rank_keys(self.keeper.count_unknown(), self.versions.answered())
        )
        self.may_have_unknown = len(keys) == IDS_AT_ONCE
        return keys


class Batches:
    """Writes the batches of one group of tables, one after another.

    Records are decoded to columns in the JVM.
    """

    def __init__(self, group: TableGroup, ledger: Lookups, context: BatchContext) -> None:
        self._columns = group.columns
        self._framing = context.registries.framing
        self._errors = context.errors
        self._writers = {name: PartWriter(each, context) for name, each in group.tables.items()}
        self._lookup = VersionLookup(group, context, ledger)
        self._lanes = Lanes()

    def write_batch(self, records: DataFrame, batch_id: BatchId) -> BatchCounts:
        """Write the records of a batch; to write it again changes nothing.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: the cause is not a record, so no record may be given up. Write the whole
                batch again.
        """
        constant = format_now()
        frames = split_frames(records, self._framing)
        if self._columns is not None and self._columns.constant:
            frames = frames.withColumn(self._columns.constant, F.lit(constant))
        batch = _Batch(batch_id, frames, self._lookup.open(batch_id), constant)
        self._write_known(batch)
        if batch.figures.unknown:
            while lookup := self._lookup.look_up(batch.versions, batch.find_keys):
                self._write_lookup(batch, lookup)
        return count_batch(batch.figures, batch.versions)

    def needs_marker(self, number: int) -> bool:
        """Return whether a batch without records must write its marker to a sink."""
        return self._lookup.has_versions(number) and any(
            each.needs_marker for each in self._writers.values()
        )

    def _write_lookup(self, batch: _Batch, lookup: Lookup) -> None:
        self._write_each(batch, lookup.versions, lookup.round)
        self._give_up(batch, lookup.refused)
        if lookup.others:
            finder = FailureFinder.of(self._framing, KnownSchemas({}, {}, lookup.others))
            batch.figures.add_dead_letters(
                store_dead_letters(batch.select_unknown(), finder, self._errors)
            )

    def _write_known(self, batch: _Batch) -> None:
        """Write part 0; the first table's pass also stores the dead letters that have no table."""
        first = next(iter(self._writers))
        others = [each for each in batch.versions.known if self._lookup.table_of(each) != first]
        frames = batch.select_others([each.key for each in others])
        batch.keeper = self._write_table(batch, first, frames, 0, batch.figures)
        self._write_each(batch, others, 0)
        if batch.figures.unknown and batch.keeper:
            batch.frames = split_frames(batch.keeper.read_records(), self._framing)

    def _write_each(self, batch: _Batch, versions: Sequence[SchemaVersion], part: int) -> None:
        """Write the records of these versions to their tables; without a table, as dead letters."""
        found = {table: self._lookup.of_table(table, versions) for table in self._writers}
        figures = {table: Figures() for table, own in found.items() if own}

        def write(table: str, frames: DataFrame) -> None:
            own = batch.select(frames, [each.key for each in found[table]])
            self._write_table(batch, table, own, part, figures[table])

        self._lanes.run(batch.frames, {table: partial(write, table) for table in figures})
        for each in figures.values():
            batch.figures.add_table(each)
        self._give_up(batch, self._lookup.find_unroutable(versions))

    def _write_table(
        self, batch: _Batch, table: str, frames: PartFrames, number: int, figures: Figures
    ) -> RecordKeeper | None:
        versions = self._lookup.of_table(table, batch.versions.all())
        part = Part(batch.id, number, versions, self._framing, batch.constant)
        return self._writers[table].write(part, frames, figures)

    def _give_up(self, batch: _Batch, refused: Mapping[SchemaKey, Failure]) -> None:
        if refused:
            finder = FailureFinder.of(self._framing, KnownSchemas({}, dict(refused)))
            rows = batch.select(batch.frames, refused.keys()).rows
            batch.figures.add_dead_letters(store_dead_letters(rows, finder, self._errors))


def make_lookups(
    groups: Mapping[str, TableGroup], ledgers: Mapping[str, Lookups], context: BatchContext
) -> dict[str, VersionLookup]:
    """Return the look-ups of several groups, by their names."""
    return {name: VersionLookup(group, context, ledgers[name]) for name, group in groups.items()}


def format_now() -> str:
    """Return the current time as text, for the constant column of a batch."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def count_batch(figures: Figures, versions: BatchVersions) -> BatchCounts:
    """Return the counts of a batch that is written, for its report.

    Raises:
        LostRecordsError: later passes found fewer records.
    """
    figures.check(versions.id)
    return BatchCounts(
        figures.records,
        figures.rows,
        len(versions.all()),
        versions.count_new(),
        figures.errors,
        empty=figures.empty,
        tombstones=figures.tombstones,
    )


def read_keys(frames: DataFrame, answered: Iterable[SchemaKey]) -> list[SchemaKey]:
    """Return the keys of frames without an answer, most frequent first, as `rank_keys` does."""
    left = frames.filter(f"NOT ({is_among(answered)})")
    counted = left.groupBy("schema").count().orderBy(F.desc("count"), "schema")
    found = counted.limit(IDS_AT_ONCE).collect()
    return [SchemaKey.unpack(bytes(row.schema)) for row in found]


def is_among(keys: Iterable[SchemaKey]) -> str:
    """Return the condition that a frame has one of these keys."""
    listed = ", ".join(f"X'{each.pack().hex()}'" for each in keys)
    return f"schema IN ({listed})" if listed else "FALSE"
