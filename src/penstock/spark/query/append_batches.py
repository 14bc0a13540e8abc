"""Take the batches of several tables whose sinks append rows, all in one Spark job.

The first job writes the records of known versions and keeps those of unknown ones, which are looked
up and written to the ledger; then another job writes them. A table's rows of one job are a part of
the batch (docs/adr/0012-parts-of-a-batch.md): the same if the batch comes again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.consuming import KnownSchemas
from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion
from penstock.spark.decoding.frames import FrameStatus, RowStatus, split_frames
from penstock.spark.decoding.keeper import RecordKeeper
from penstock.spark.decoding.table_pass import TablePass, count_bad
from penstock.spark.failures import FailureFinder, store_dead_letters, store_in_driver
from penstock.spark.query.append_table import AppendTable, TablePlan
from penstock.spark.query.batch import count_batch, format_now, is_among, make_lookups, read_keys
from penstock.spark.query.concurrently import run_concurrently
from penstock.spark.query.parts import FEW_BAD, FRAMED, IS_ERROR, BatchContext, Figures
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import BatchVersions, rank_keys
from penstock.spark.sinks.base import Part
from penstock.spark.sinks.records import describe_versions
from penstock.spark.sinks.table import TableGroup
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.tables import BatchId


@dataclass(slots=True)
class _Target:
    """A table in a job: its number there, and the keys and the part of its records."""

    group: _GroupBatch
    table: AppendTable
    plan: TablePlan
    part: Part
    keys: Sequence[SchemaKey]
    number: int
    is_written: bool = False
    refused: Mapping[Reason, int] = field(default_factory=dict)

    def own(self, frames: DataFrame) -> DataFrame:
        """Return the frames of the table."""
        return self.group.own(frames).filter(is_among(self.keys))

    def commit(self, job: TablePass) -> None:
        """Commit the files that the job has written."""
        rows, files = job.found[self.number][RowStatus.DECODED], job.messages(self.number)
        self.is_written = self.table.commit(self.plan, self.part, rows, files)

    def write(self, job: TablePass, frames: DataFrame) -> None:
        """Write the rows by a query of their own, unless they are written."""
        if not self.is_written:
            rows = job.found[self.number][RowStatus.DECODED]
            self.refused = self.table.write(self.plan, self.part, rows, self.own(frames))


@dataclass(slots=True)
class _GroupBatch:
    """The batch of one group; `topics` is None for all, `lookup` None before the first one."""

    topics: Sequence[str] | None
    versions: BatchVersions
    figures: Figures = field(default_factory=Figures)
    lookup: Lookup | None = None

    @property
    def part(self) -> int:
        """Return the number of the part that the next job writes."""
        return 0 if self.lookup is None else self.lookup.round

    @property
    def wanted(self) -> Sequence[SchemaVersion]:
        """Return the versions that the next job writes."""
        return self.versions.known if self.lookup is None else self.lookup.versions

    def list_others(self) -> list[SchemaKey]:
        """Return the keys that have an answer and that the next job does not write."""
        wanted = {each.key for each in self.wanted}
        return [each for each in self.versions.answered() if each not in wanted]

    def own(self, frames: DataFrame) -> DataFrame:
        """Return the frames of the group's topics."""
        return frames if self.topics is None else frames.filter(F.col("topic").isin([*self.topics]))

    def takes(self, topic: str) -> bool:
        """Return whether the group has a topic."""
        return self.topics is None or topic in self.topics

    def add(self, targets: Iterable[_Target], job: TablePass, number: int) -> int:
        """Add the counts of a job; return how many records are bad."""
        total: Counter[str] = Counter()
        for each in targets:
            total += job.found[each.number]
            self.figures.add_rejected(each.refused)
        if self.lookup is None:  # later jobs see records without a table again
            total += job.others[number]
        self.figures.add(
            {
                "records": total.total(),
                "tombstones": total[FrameStatus.TOMBSTONE],
                "rows": total[RowStatus.DECODED],
                "empty": total[RowStatus.EMPTY],
                "unknown": total[RowStatus.UNKNOWN],
            }
        )
        return count_bad(total)


class AppendBatches:
    """Takes the batches of one query for several groups of tables."""

    def __init__(
        self,
        groups: Mapping[str, TableGroup],
        ledgers: Mapping[str, Lookups],
        context: BatchContext,
    ) -> None:
        self._tables = {
            name: {
                schema: AppendTable(each, context.lease) for schema, each in group.tables.items()
            }
            for name, group in groups.items()
        }
        self._lookups = make_lookups(groups, ledgers, context)
        columns = (group.columns for group in groups.values())
        self._constants = sorted({each.constant for each in columns if each and each.constant})
        self._framing = context.registries.framing
        self._errors = context.errors
        self._lease = context.lease

    def write_batch(
        self, records: DataFrame, batch: BatchId, topics: Mapping[str, Sequence[str]]
    ) -> dict[str, BatchCounts]:
        """Write the records of a batch for each group that has topics in it; idempotent.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: it is retriable, or not the fault of a record. Write the batch again.
        """
        groups = {
            name: _GroupBatch(topics.get(name, ()) if name else None, lookup.open(batch))
            for name, lookup in self._lookups.items()
            if name in topics or self._needs_marker(name, batch.number)
        }
        constant = format_now()
        whole = self._split(records, constant)
        kept = self._run_job(batch, whole, groups, constant)
        while wanted := dict(self._look_up(groups, whole, kept)):
            frames = self._split(kept.read_records(), constant) if kept else whole
            kept = self._run_job(batch, frames, wanted, constant)
        return {name: count_batch(each.figures, each.versions) for name, each in groups.items()}

    def _needs_marker(self, name: str, number: int) -> bool:
        """Return whether a batch without records of a group must write its marker to a table."""
        return self._lookups[name].has_versions(number) and any(
            each.needs_marker for each in self._tables[name].values()
        )

    def _split(self, records: DataFrame, constant: str) -> DataFrame:
        frames = split_frames(records, self._framing)
        for each in self._constants:
            frames = frames.withColumn(each, F.lit(constant))
        # The plans of tables take columns by their places, and kept records have other ones.
        return frames.select(*sorted(frames.columns))

    def _look_up(
        self, groups: Mapping[str, _GroupBatch], frames: DataFrame, kept: RecordKeeper | None
    ) -> Iterator[tuple[str, _GroupBatch]]:
        """Yield the groups whose unknown versions have an answer now."""

        def find_keys(group: _GroupBatch) -> Sequence[SchemaKey]:
            answered = group.versions.answered()
            if kept is None:
                return read_keys(group.own(frames).filter(FRAMED), answered)
            return rank_keys(kept.count_unknown(group.takes), answered)

        for name, each in groups.items():
            if each.figures.unknown:
                each.lookup = self._lookups[name].look_up(each.versions, partial(find_keys, each))
                if each.lookup:
                    yield name, each

    def _run_job(
        self, batch: BatchId, frames: DataFrame, wanted: Mapping[str, _GroupBatch], constant: str
    ) -> RecordKeeper | None:
        """Write the records that the last look-ups decided about, or those of known versions.

        Returns:
            The records of versions that are still unknown; None if they must be read again.
        """
        keeper = RecordKeeper(frames)
        job = TablePass(frames, keeper)
        numbers: dict[str, int] = {}
        targets: dict[str, list[_Target]] = {}
        failures: dict[str, dict[SchemaKey, Failure]] = {}
        for name, each in wanted.items():
            group = numbers[name] = job.add_group(each.topics, is_first=each.lookup is None)
            failures[name] = self._lookups[name].find_unroutable(each.wanted)
            failures[name] |= each.lookup.refused if each.lookup else {}
            job.leave(group, [*each.list_others(), *failures[name]])
            targets[name] = []
            for table, keys, versions in self._list_tables(name, each):
                plan = table.plan(frames, versions)
                part = Part(batch, each.part, versions, self._framing, constant)
                number = job.add_table(group, keys, plan.decoder, plan.rows, plan.files)
                targets[name].append(_Target(each, table, plan, part, keys, number))
        self._lease.check()
        job.run()
        tables = [target for own in targets.values() for target in own]
        run_concurrently(frames.sparkSession, [partial(each.commit, job) for each in tables])
        for target in tables:  # one by one: Iceberg takes the id of an append from the session
            target.write(job, frames)
        kept = keeper if keeper.has_all(job.kept) else None
        for name, each in wanted.items():
            bad = each.add(targets[name], job, numbers[name])
            if bad:
                self._store_bad(each, targets[name], frames, kept, bad)
            self._give_up(each, failures[name], frames)
        return kept

    def _list_tables(
        self, name: str, group: _GroupBatch
    ) -> Iterator[tuple[AppendTable, list[SchemaKey], tuple[SchemaVersion, ...]]]:
        """Yield the tables of a group that a job writes, with the keys there and all versions."""
        lookup = self._lookups[name]
        for schema, table in self._tables[name].items():
            if wanted := lookup.of_table(schema, group.wanted):
                versions = lookup.of_table(schema, group.versions.all())
                yield table, [each.key for each in wanted], versions

    def _store_bad(
        self,
        group: _GroupBatch,
        targets: Sequence[_Target],
        frames: DataFrame,
        kept: RecordKeeper | None,
        bad: int,
    ) -> None:
        """Store the bad records of a job as dead letters."""
        finder = FailureFinder.of(self._framing, describe_versions(group.versions.all()))
        if kept and bad <= FEW_BAD:
            found = (each for each in kept.read_bad() if group.takes(each[0].source.topic))
            group.figures.add_dead_letters(store_in_driver(found, finder, self._errors))
            return
        if kept:
            rows = [kept.read()]
        else:
            rows = [each.plan.decoder.decode(each.own(frames)) for each in targets]
            if group.lookup is None:
                rows.append(frames.filter(f"NOT ({FRAMED})"))
        for each in rows:
            own = group.own(each).filter(IS_ERROR)
            group.figures.add_dead_letters(store_dead_letters(own, finder, self._errors))

    def _give_up(
        self, group: _GroupBatch, failures: Mapping[SchemaKey, Failure], frames: DataFrame
    ) -> None:
        """Store the records whose versions cannot be used as dead letters."""
        others = group.lookup.others if group.lookup else None
        if not failures and not others:
            return
        chosen = is_among(failures)
        if others:
            chosen = f"({chosen}) OR NOT ({is_among(group.versions.answered())})"
        rows = group.own(frames).filter(FRAMED).filter(chosen)
        finder = FailureFinder.of(self._framing, KnownSchemas({}, dict(failures), others))
        group.figures.add_dead_letters(store_dead_letters(rows, finder, self._errors))
