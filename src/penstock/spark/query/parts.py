"""Write one part of a batch to the sinks of a table; decode, check and count it in one pass."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.consuming import ErrorSink
from penstock.errors import LostRecordsError, Reason
from penstock.registry import Registries
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import FINE, FrameStatus, RowStatus
from penstock.spark.decoding.keeper import RecordKeeper
from penstock.spark.failures import FailureFinder, store_dead_letters, store_in_driver
from penstock.spark.filter_counts import FilterCounts
from penstock.spark.query.concurrently import run_concurrently
from penstock.spark.query.transform import Transform
from penstock.spark.rows import PLACE, Fence, keep_raw, while_held
from penstock.spark.sinks.base import Part, Sink
from penstock.spark.sinks.records import describe_versions
from penstock.spark.sinks.table import Table
from penstock.spark.state.lease import NoLease
from penstock.tables import BatchId

FRAMED = f"status = '{FrameStatus.FRAMED}'"
_WIDE, _VERY_WIDE = 45, 70  # values of a record
# The most bad records of a pass that the driver names itself, where a job in Python is no faster.
FEW_BAD: Final = 2_500
# An idle table still gets a marker twice a day. Snapshots of the last day are never expired, so one
# of these markers always remains (docs/adr/0015-markers-in-tables.md).
MARKED_SECONDS: Final = 12 * 3_600
_FINE: Final = ", ".join(f"'{status}'" for status in FINE)
IS_ERROR: Final = f"status NOT IN ({_FINE})"
_LEFT_OUT: Final = {
    "tombstones": FrameStatus.TOMBSTONE,
    "unknown": RowStatus.UNKNOWN,
    "empty": RowStatus.EMPTY,
    "elsewhere": RowStatus.ELSEWHERE,
}
_MEASURES: Final = {
    "records": "TRUE",
    "rows": f"status = '{RowStatus.DECODED}'",
    "errors": IS_ERROR,
    **{name: f"status = '{status}'" for name, status in _LEFT_OUT.items()},
}


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The parts of a query that all of its batches use.

    Attributes:
        registries: the registries in which schema versions are looked up.
        errors: a sink for records that cannot be decoded or written.
        lease: sinks are written to only while it is held.
        transform: a function of decoded rows, applied before every sink.
        asks_all: whether all unknown versions are looked up, which is bounded if batches are small.
    """

    registries: Registries
    errors: ErrorSink
    lease: Fence = field(default_factory=NoLease)
    transform: Transform | None = None
    asks_all: bool = False


@dataclass(frozen=True, slots=True)
class PartFrames:
    """The split frames of a part.

    Attributes:
        rows: the frames.
        are_known: whether all have versions of the part, so that only rows and errors come of them.
    """

    rows: DataFrame
    are_known: bool = False


class PartWriter:
    """Writes parts of batches, all under the merge of the known versions.

    If the table is routed by schema name, frames may belong to other tables.

    An empty part still commits a marker. After one, later parts are counted first and skipped while
    they are empty, so an idle table gets two snapshots a day, not one per batch.
    """

    def __init__(self, table: Table, context: BatchContext) -> None:
        is_staged, is_routed = table.columns is not None, table.route.schema is not None
        self._filters = {
            known: write_filters(is_staged=is_staged, is_routed=is_routed, are_known=known)
            for known in (True, False)
        }
        self._table = table
        self._context = context
        self._decoder: Decoder | None = None
        self._marked_until = 0.0  # an empty part needs no marker

    @property
    def needs_marker(self) -> bool:
        """Return whether an empty part would commit a marker."""
        return time.monotonic() >= self._marked_until

    def write(self, part: Part, frames: PartFrames, figures: Figures) -> RecordKeeper | None:
        """Write frames as one part, with the part's versions; without one, nothing is decoded.

        Returns:
            The records of unknown versions; None if they must be read again.
        """
        if not part.versions:
            unknown = F.expr(f"IF({FRAMED}, '{RowStatus.UNKNOWN}', status)")
            checked = replace(frames, rows=frames.rows.withColumn("status", unknown))
            return self._write_part(part, checked, None, figures)
        if self._decoder is None or self._decoder.versions != part.versions:
            columns = self._table.columns
            self._decoder = Decoder(frames.rows.sparkSession, part.versions, columns)
        decoded = decode_frames(self._decoder, frames.rows)
        return self._write_part(part, replace(frames, rows=decoded), self._decoder, figures)

    def _write_part(
        self, part: Part, frames: PartFrames, decoder: Decoder | None, figures: Figures
    ) -> RecordKeeper | None:
        """Write the rows and dead letters of a part, whose frames are decoded."""
        checked, filters = frames.rows, self._filters[frames.are_known]
        keeper = make_keeper(checked, decoder)
        refused: list[Mapping[Reason, int]] = []  # the sinks are written to at once

        def write(sink: Sink, decoder: Decoder, decoded: DataFrame) -> None:
            rows = decoder.project(decoded)
            rows = self._context.transform(rows) if self._context.transform else rows
            with while_held(self._context.lease):
                refused.append(sink.write(rows, part))

        writes = [partial(write, each, decoder) for each in self._table.sinks] if decoder else []
        counts = self._write_rows(part.batch, checked, writes, filters, keeper)
        figures.add(counts)
        for each in refused:
            figures.add_rejected(each)
        if counts["tombstones"]:
            self._write_tombstones(checked, part, figures)
        left = counts["errors"] + counts["unknown"]
        if keeper and left and not keeper.has_all(left):
            keeper = None
        if counts["errors"]:
            given_up = self._store_bad(part, checked, keeper, counts["errors"])
            figures.add_dead_letters(given_up)
        return keeper

    def _write_rows(
        self,
        batch: BatchId,
        checked: DataFrame,
        writes: Sequence[Callable[[DataFrame], None]],
        filters: Mapping[str, str],
        keeper: RecordKeeper | None,
    ) -> Mapping[str, int]:
        """Write the rows of a part, after it was counted if it needs no marker; return its counts.

        Raises:
            LostRecordsError: see `_compare`.
        """
        needs_marker = self.needs_marker
        first = writes if needs_marker else ()
        counts = _compare(batch, count_passes(checked, first, filters, keeper))
        if counts["rows"]:
            if not needs_marker:
                _compare(batch, chain([counts], count_passes(checked, writes, filters)))
            self._marked_until = 0.0
        elif first:
            self._marked_until = time.monotonic() + MARKED_SECONDS
        return counts

    def _store_bad(
        self, part: Part, checked: DataFrame, keeper: RecordKeeper | None, bad: int
    ) -> Mapping[Reason, int]:
        finder = FailureFinder.of(part.framing, describe_versions(part.versions))
        if keeper and bad <= FEW_BAD:
            return store_in_driver(keeper.read_bad(), finder, self._context.errors)
        rows = (keeper.read() if keeper else checked).filter(IS_ERROR)
        return store_dead_letters(rows, finder, self._context.errors)

    def _write_tombstones(self, checked: DataFrame, part: Part, figures: Figures) -> None:
        sinks = [each for each in self._table.sinks if each.capabilities.deletes]
        tombstones = checked.filter(f"status = '{FrameStatus.TOMBSTONE}'")
        rows = tombstones.selectExpr(*PLACE, *keep_raw(tombstones))
        for sink in sinks:
            with while_held(self._context.lease):
                figures.add_rejected(sink.write(rows, part))


@dataclass(slots=True)
class Figures:
    """The counts of a batch so far; `records` is the count of its first part.

    `dead_letters` counts records that became dead letters instead of rows, `empty` those without a
    value in the columns of their table.
    """

    records: int = 0
    tombstones: int = 0
    rows: int = 0
    empty: int = 0
    unknown: int = 0
    dead_letters: int = 0
    errors: Counter[Reason] = field(default_factory=Counter)

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the counts of a part."""
        self.records = self.records or counts["records"]
        self.tombstones += counts["tombstones"]
        self.rows += counts["rows"]
        self.empty += counts["empty"]
        self.unknown += counts["unknown"]

    def add_table(self, table: Figures) -> None:
        """Add the figures of another table's part."""
        self.records = self.records or table.records
        self.tombstones += table.tombstones
        self.rows += table.rows
        self.empty += table.empty
        self.unknown += table.unknown
        self.dead_letters += table.dead_letters
        self.errors.update(table.errors)

    def add_rejected(self, given_up: Mapping[Reason, int]) -> None:
        """Add the rows that a sink rejected and stored as dead letters, by reason."""
        self.errors.update(given_up)

    def add_dead_letters(self, given_up: Mapping[Reason, int]) -> None:
        """Add the records that became dead letters instead of rows, by reason."""
        self.errors.update(given_up)
        self.dead_letters += sum(given_up.values())

    def check(self, batch: BatchId) -> None:
        """Check that each record became a row, a dead letter or a tombstone, or was empty.

        Raises:
            LostRecordsError: later passes found fewer records.
        """
        found = self.rows + self.dead_letters + self.tombstones + self.empty
        if found != self.records:
            raise changed(batch, self.records, found)


def decode_frames(decoder: Decoder, frames: DataFrame) -> DataFrame:
    """Decode frames in the stage that opens them, unless its method would become too long.

    HotSpot does not compile a method of more than 8,000 bytes (tests/spark/test_code_size.py): the
    SQL that opens a frame with headers is long, and so is what writes many columns. Very wide
    records are decoded in one stage, and get their columns in the next.
    """
    is_very_wide = decoder.width > _VERY_WIDE
    is_long = "headers" in frames.columns or _WIDE < decoder.width <= _VERY_WIDE
    if is_long:
        frames = _end_stage(frames, "frames")
    decoded = decoder.decode(frames)
    return _end_stage(decoded, "decoded") if is_very_wide else decoded


def make_keeper(checked: DataFrame, decoder: Decoder | None) -> RecordKeeper | None:
    """Return what keeps decoded frames for another pass; the code of very wide rows has no room."""
    return None if decoder and decoder.width > _VERY_WIDE else RecordKeeper(checked)


def _end_stage(rows: DataFrame, name: str) -> DataFrame:
    """End the stage that Spark compiles; it copies each row there, so it should be short."""
    return rows.observe(name, F.count(F.lit(1)).alias("rows"))


def write_filters(*, is_staged: bool, is_routed: bool, are_known: bool = False) -> dict[str, str]:
    """Return filters that leave out the records of one status after the other, until rows remain.

    They have the names of the figures; each costs a little time to plan.
    """
    possible = {"empty": is_staged, "elsewhere": is_routed and not are_known}
    others = {
        name: f"status <> '{status}'"
        for name, status in _LEFT_OUT.items()
        if possible.get(name, not are_known)
    }
    return {"records": "TRUE", **others, "errors": f"status = '{RowStatus.DECODED}'"}


def count_passes(
    checked: DataFrame,
    writes: Sequence[Callable[[DataFrame], None]],
    conditions: Mapping[str, str],
    keeper: RecordKeeper | None = None,
) -> Iterator[dict[str, int]]:
    """Run the writes of decoded records at once; yield the counts of all records, by status.

    A write yields no counts if its sink has the part already, since it then reads nothing. Without
    counts of the last write, or without writes, the records are counted in a pass of their own. The
    first pass keeps the records that need another one.
    """
    kept = {**conditions, "records": keeper.condition} if keeper else conditions
    counted = [(each, FilterCounts(conditions if at else kept)) for at, each in enumerate(writes)]
    passed: Mapping[str, int] = {}
    with ExitStack() as stack:
        for _, filters in counted:
            stack.enter_context(filters.watch(checked))
        passes = [partial(write, filters.filter(checked)) for write, filters in counted]
        run_concurrently(checked.sparkSession, passes)
        for _, filters in counted:
            passed = filters.wait()
            if passed:
                yield _count_statuses(passed)
    if not passed:
        checked = checked.filter(keeper.condition) if keeper else checked
        measures = [F.expr(f"count_if({sql})").alias(name) for name, sql in _MEASURES.items()]
        (row,) = checked.agg(*measures).collect()
        yield row.asDict()


def _count_statuses(passed: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by status, from the records that passed each filter."""
    left_out = {after: passed[before] - passed[after] for before, after in pairwise(passed)}
    rows = passed["errors"]
    return {"records": passed["records"], "rows": rows, **dict.fromkeys(_LEFT_OUT, 0), **left_out}


def _compare(batch: BatchId, passes: Iterator[dict[str, int]]) -> dict[str, int]:
    """Return the counts of all passes.

    Each pass reads Kafka again, which may have deleted records meanwhile and says nothing of it.

    Raises:
        LostRecordsError: a later pass counts other records than the first.
    """
    first = next(passes)
    for counts in passes:
        if counts != first:
            raise changed(batch, first["records"], counts["records"])
    return first


def changed(batch: BatchId, first: int, later: int) -> LostRecordsError:
    """Return the error that a later pass over a batch found other records than the first."""
    return LostRecordsError(
        f"batch {batch.number} had {first} records in its first pass and {later} in later ones, "
        "expected the same: Kafka deleted records meanwhile, which some sinks have and others do "
        "not; start again to continue with the records that Kafka has, or to have the others named"
    )
