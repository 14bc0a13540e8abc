"""Write one batch of records to the sinks, in parts that are the same when the batch comes again.

| part | records                                                                              |
| ---- | ------------------------------------------------------------------------------------ |
| 0    | records of the versions that were known when the batch began                         |
| 1    | the compressed ones among them, inflated in Python                                   |
| 2, 3 | the same for versions that the batch looked up in its first round; 4, 5: its second   |

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
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.spark.decoding.decoder import RowStatus, Versions, admit_versions, find_versions
from penstock.spark.decoding.frames import split_frames
from penstock.spark.failures import ErrorSink, Judge, file_errors
from penstock.spark.query.parts import FRAMED, Figures, PartWriter
from penstock.spark.query.report import BatchCounts
from penstock.spark.rows import Sink
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.staging import STAGING_TIME
from penstock.tables import BatchId

_IDS_AT_ONCE: Final = 1_000
# Records with random ids must not keep a batch from its end: every lookup is a call.
_MAX_REFUSED: Final = 100
_NOT_LOOKED_UP: Final = Failure(
    Reason.UNKNOWN_SCHEMA,
    f"found more than {_MAX_REFUSED} unknown schema ids in one batch, expected ids of a registry; "
    "this one, among the rarest of them, was not looked up",
)


@dataclass(slots=True)
class _Batch:
    """A batch in progress: the versions that it is split by, and its counts so far."""

    id: BatchId
    frames: DataFrame
    known: tuple[SchemaVersion, ...]
    lookups: list[Lookup] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)

    def versions(self) -> tuple[SchemaVersion, ...]:
        """Return all versions that are known by now."""
        return (*self.known, *(each for lookup in self.lookups for each in lookup.versions))

    def refused(self) -> list[SchemaKey]:
        """Return the keys of versions that were looked up and cannot be used."""
        return [key for lookup in self.lookups for key in lookup.refused]

    def unknown(self) -> DataFrame:
        """Return the frames of versions that are neither known nor refused."""
        answered = [*(each.key for each in self.versions()), *self.refused()]
        return self.frames.filter(f"{FRAMED} AND NOT {_among(answered)}")

    @property
    def is_answered(self) -> bool:
        """Return whether the last lookup decided about all versions that were left."""
        return bool(self.lookups) and self.lookups[-1].others is not None


@dataclass(frozen=True, slots=True)
class TableSinks:
    """The sinks of a table, or of tables by schema name.

    Attributes:
        sinks: sinks for rows, written in this order.
        tombstones: sinks for records without a value.
        columns: for a staged table, the fields that become columns, and their names.
    """

    sinks: Sequence[Sink] | Mapping[str, Sequence[Sink]]
    tombstones: Sequence[Sink] = ()
    columns: Projection | None = None


class Batches:
    """Takes the batches of one query, one after the other.

    `registries` should cache their answers. `sinks` are for all records, or by schema name.
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
        self._spark = spark
        self._columns = table.columns
        self._registries = registries
        self._ledger = ledger
        self._errors = errors
        self._routed = isinstance(table.sinks, Mapping)
        by_name = table.sinks if isinstance(table.sinks, Mapping) else {"": table.sinks}
        self._writers = {
            name: PartWriter(each, errors, registries.framing, table.tombstones, table.columns)
            for name, each in by_name.items()
        }

    def take(self, records: DataFrame, batch_id: BatchId) -> BatchCounts:
        """Write the records of a batch; this is idempotent.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: it is retriable, or not the fault of a record. The rest of the batch must
                not be given up; take the whole batch again.
        """
        self._ledger.tidy(batch_id.number)
        known = self._ledger.before(batch_id.number)
        batch = _Batch(batch_id, self._split(records), known)
        self._write_known(batch)
        records_read = batch.figures.records
        if batch.figures.unknown:
            self._write_unknown(batch)
        figures = batch.figures
        figures.check(batch_id)
        versions = batch.versions()
        return BatchCounts(
            records_read,
            figures.rows,
            len(versions),
            len(versions) - len(known),
            figures.errors,
            empty=figures.empty,
            tombstones=figures.tombstones,
        )

    def needs_marker(self, number: int) -> bool:
        """Return whether a batch without records would be written to a sink."""
        has_versions = bool(self._ledger.before(number))
        return has_versions and any(each.needs_marker for each in self._writers.values())

    def _split(self, records: DataFrame) -> DataFrame:
        frames = split_frames(records, self._registries.framing)
        if self._columns is None:
            return frames
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return frames.withColumn(STAGING_TIME, F.lit(now))

    def _write_unknown(self, batch: _Batch) -> None:
        """Write the records of unknown ids, by earlier lookups of this batch or new ones."""
        for lookup in self._ledger.lookups(batch.id.number):
            self._write_lookup(batch, lookup)
        while not batch.is_answered and (keys := _find_keys(batch.unknown())):
            lookup = self._look_up(batch, keys)
            self._ledger.add(lookup)
            self._write_lookup(batch, lookup)
            if len(keys) < _IDS_AT_ONCE:
                break

    def _look_up(self, batch: _Batch, keys: Sequence[SchemaKey]) -> Lookup:
        """Look up versions until too many are unknown; raise if an answer is not final."""

        def beside(version: SchemaVersion, admitted: Sequence[SchemaVersion]) -> Versions:
            return self._of_table(self._table(version), [*batch.versions(), *admitted])

        left = _MAX_REFUSED - len(batch.refused())
        found, refused = find_versions(self._registries, keys, left)
        others = None if len(found) + len(refused) == len(keys) else _NOT_LOOKED_UP
        refused |= self._find_unroutable(found)
        routed = [each for each in found if each.key not in refused]
        admitted, inadmissible = admit_versions(self._spark, routed, beside, self._columns)
        refused |= inadmissible
        number = len(batch.lookups) + 1
        return Lookup(batch.id.number, number, tuple(admitted), refused, others)

    def _write_lookup(self, batch: _Batch, lookup: Lookup) -> None:
        batch.lookups.append(lookup)
        self._write_each(batch, lookup.versions, 2 * lookup.round)
        self._give_up(batch, lookup.refused)
        if lookup.others:
            judge = Judge.of_versions((), {}, self._registries.framing, lookup.others)
            batch.figures.file(file_errors(batch.unknown(), judge, self._errors))

    def _write_known(self, batch: _Batch) -> None:
        """Write part 0; the pass of the first table also judges records that no table takes."""
        first = next(iter(self._writers))
        others = [each for each in batch.known if self._table(each) != first]
        elsewhere = f"IF({_among(each.key for each in others)}, '{RowStatus.ELSEWHERE}', status)"
        frames = batch.frames.withColumn("status", F.expr(elsewhere)) if others else batch.frames
        self._write_table(batch, first, frames, 0)
        self._write_each(batch, others, 0)

    def _write_each(self, batch: _Batch, versions: Sequence[SchemaVersion], part: int) -> None:
        """Write the records of these versions to their tables; give up those without a table."""
        for table in self._writers:
            if own := self._of_table(table, versions):
                rows = batch.frames.filter(_among(each.key for each in own))
                self._write_table(batch, table, rows, part)
        self._give_up(batch, self._find_unroutable(versions))

    def _write_table(self, batch: _Batch, table: str, frames: DataFrame, part: int) -> None:
        versions = self._of_table(table, batch.versions())
        self._writers[table].write(batch.id, part, frames, versions, batch.figures)

    def _give_up(self, batch: _Batch, refused: Mapping[SchemaKey, Failure]) -> None:
        if refused:
            judge = Judge.of_versions((), refused, self._registries.framing)
            rows = batch.frames.filter(_among(refused))
            batch.figures.file(file_errors(rows, judge, self._errors))

    def _table(self, version: SchemaVersion) -> str:
        return version.name if self._routed else ""

    def _of_table(self, table: str, versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
        return tuple(each for each in versions if self._table(each) == table)

    def _find_unroutable(self, versions: Iterable[SchemaVersion]) -> dict[SchemaKey, Failure]:
        return {
            each.key: Failure(
                Reason.UNROUTABLE,
                f"found a record of schema {each.name}, expected one of {', '.join(self._writers)}",
            )
            for each in versions
            if self._table(each) not in self._writers
        }


def _find_keys(frames: DataFrame) -> list[SchemaKey]:
    """Return the schema keys of frames, most frequent first; not all if there are very many."""
    counted = frames.groupBy("schema").count().orderBy(F.desc("count"), "schema")
    return [SchemaKey.unpack(bytes(row.schema)) for row in counted.limit(_IDS_AT_ONCE).collect()]


def _among(keys: Iterable[SchemaKey]) -> str:
    """Return the condition that a frame has one of these keys."""
    listed = ", ".join(f"X'{each.pack().hex()}'" for each in keys)
    return f"schema IN ({listed})" if listed else "FALSE"
