"""The net change of each row in a batch, and which changes are older than what a table has.

The position of a change is its place in the database's log (`_lsn`), then its Kafka offset. A
transaction may write a row before another one commits, and commit after it: the place of such a
change is that of the commit. A transaction that was open when a snapshot was made has places before
that of the snapshot, and commits after it: a change after a snapshot's records has at least the
snapshot's place. In the Kafka partitions of these records that is told by offsets, in others by the
times at which the connector wrote. Any other change from before a whole snapshot is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final, NamedTuple, Self

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.errors import JobError
from penstock.extensions.cdc.spark.envelope import Changes, is_unavailable
from penstock.spark.lake.conversion import quote
from penstock.spark.rows import EVENT

KEPT: Final = "_kept_"  # prefix of the positions of values that a later change does not have
_COMPLETE: Final = "'last', 'last_in_data_collection'"
_IS_SNAPSHOT: Final = "_op = 'r' AND NOT COALESCE(_snapshot = 'incremental', FALSE)"
_TIME: Final = "UNIX_MICROS(_changed_at)"
# By which clocks may differ. Debezium gives rows of a snapshot the time of its transaction's start.
_CLOCK_MICROS: Final = 60 * 10**6
_MEASURES: Final = {
    "changes": "COUNT(*)",
    "rows": "COUNT_IF(_op <> 't')",
    "keyless": "COUNT_IF(_op <> 't' AND _is_keyless)",
    "without_lsn": "COUNT_IF(_lsn IS NULL)",
    "unknown": "COUNT_IF(_op IS NULL OR _op NOT IN ('r', 'c', 'u', 'd', 't'))",
    "snapshot": f"MIN(IF({_IS_SNAPSHOT},"
    " STRUCT(-_lsn, _offset, UNIX_MICROS(_kafka_timestamp)), NULL))",
    "complete": f"MAX(IF(_op = 'r' AND _snapshot IN ({_COMPLETE}), STRUCT({_TIME}, _lsn), NULL))",
    "truncations": f"COLLECT_LIST(IF(_op = 't', STRUCT(_written.*, _offset, {_TIME}), NULL))",
    "deleted": "MAX(IF(_op = 'd', _lsn, NULL))",
    "least": "MIN(_lsn)",
    "greatest": "MAX(_lsn)",
}


class Moment(NamedTuple):
    """The place of a change in the order of all changes, and its time in microseconds.

    It is the place of the last commit before the change, and its own place in the log.
    """

    commit: int
    own: int
    offset: int
    time: int

    @property
    def lsn(self) -> int:
        """The place that the change would have in a row (`_lsn`)."""
        return max(self.commit, self.own)

    @property
    def is_later(self) -> str:
        """The SQL condition that the last change of a row is before this one."""
        return f"(_lsn < {self.lsn} OR (_lsn = {self.lsn} AND _offset < {self.offset}))"

    @property
    def is_undone(self) -> str:
        """The SQL condition that the last change of a row is one that this one `undoes`."""
        before = f"TIMESTAMP_MICROS({self.time - _CLOCK_MICROS})"
        return f"(_lsn > {self.lsn} AND _changed_at < {before})"

    def undoes(self, other: Moment) -> bool:
        """Return whether another change was made before this one, and has a later place.

        Then the database was restored to a place before that change, or replaced.
        """
        return other.lsn > self.lsn and other.time < self.time - _CLOCK_MICROS


class Snapshot(NamedTuple):
    """The first record of a snapshot in a Kafka partition: its offset, and when it was written.

    `lsn` is the place of the snapshot. The time is in microseconds, 0 if an older job noted it.
    """

    offset: int
    lsn: int
    time: int = 0


@dataclass(frozen=True, slots=True)
class LogState:
    """The state of a table's log that outlives a batch.

    Attributes:
        snapshots: the last snapshot of each Kafka partition.
        truncated: the last TRUNCATE; changes before it are over.
        key: the fields of the table's primary key.
        complete: the end of the last whole snapshot; changes before it are over.
    """

    snapshots: Mapping[str, Snapshot] = field(default_factory=dict)
    truncated: Moment | None = None
    key: tuple[str, ...] = ()
    complete: Moment | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a state from JSON."""
        found = json.loads(text)
        snapshots = {each: Snapshot(*place) for each, place in found["snapshots"].items()}
        truncated, complete = (
            Moment(*place) if (place := found.get(name)) else None
            for name in ("truncated", "complete")
        )
        return cls(snapshots, truncated, tuple(found["key"]), complete)

    def __str__(self) -> str:
        """Return the state as JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class BatchLog:
    """The figures of the changes in a part of a batch.

    Attributes:
        state: the state of the log with these changes.
        changes: their number.
        has_rows: whether one of them is of a row.
        keyless: how many of them are of a row without a key.
        truncations: each TRUNCATE among them, in their order: rows before it are deleted.
        complete: the end of the last whole snapshot among them, by time: rows of earlier places
            were deleted.
        deleted: a place that no deletion among them comes after; None without a deletion.
        least: the first place of a change.
        greatest: a place that no change among them comes after.
        is_unavailable: whether values are missing, which the rows have that are there.
    """

    state: LogState
    changes: int
    has_rows: bool
    keyless: int
    truncations: tuple[Moment, ...]
    complete: Moment | None
    deleted: int | None
    least: int
    greatest: int
    is_unavailable: bool

    @property
    def over(self) -> Moment | None:
        """The end of the last whole snapshot, if it or a change from before it is among them."""
        last = self.state.complete
        return last if last and (self.complete or self.least < last.lsn) else None


def measure(changes: Changes, before: LogState, unavailable: str, where: str) -> BatchLog:
    """Read the figures of changes, in one pass.

    Raises:
        JobError: a change has no place in the log, or is of an unknown kind.
    """
    lost = [each for _, each in find_unavailable(changes.type, unavailable)]
    measures = {**_MEASURES, "lost": f"COUNT_IF({' OR '.join(lost) or 'FALSE'})"}
    found = (
        changes.rows.groupBy("_kafka_partition")
        .agg(*(F.expr(sql).alias(name) for name, sql in measures.items()))
        .collect()
    )
    if wrong := sum(row["without_lsn"] + row["unknown"] for row in found):
        raise JobError(
            f"found {wrong} changes of {where} without a kind (op) or a place in the log (lsn),"
            " expected records of Debezium's connector for PostgreSQL"
        )
    truncations = sorted(Moment(*each) for row in found for each in row["truncations"])
    last = max(filter(None, (before.truncated, *truncations[-1:])), default=None)
    completed = filter(None, (row["complete"] for row in found))
    ends = [Moment(lsn, lsn, -1, time) for time, lsn in completed]
    complete = max(filter(None, (before.complete, *ends)), default=None)
    state = LogState(_find_snapshots(found, before), last, before.key, complete)
    return BatchLog(
        state,
        sum(row["changes"] for row in found),
        any(row["rows"] for row in found),
        sum(row["keyless"] for row in found),
        tuple(truncations),
        max(ends, key=lambda each: each.time, default=None),
        _find_last((row["deleted"] for row in found), state),
        min((row["least"] for row in found), default=0),
        _find_last((row["greatest"] for row in found), state) or 0,
        any(row["lost"] for row in found),
    )


def _find_snapshots(rows: Sequence[Row], before: LogState) -> dict[str, Snapshot]:
    """Return the last snapshot of each Kafka partition."""
    found = dict(before.snapshots)
    for row in rows:
        if row["snapshot"] is None:
            continue
        place, offset, time = row["snapshot"]
        partition = str(row["_kafka_partition"])
        if partition not in found or -place > found[partition].lsn:
            found[partition] = Snapshot(offset, -place, time)
    return found


def _find_last(places: Iterable[int | None], state: LogState) -> int | None:
    """Return the last place that changes at these places may get from `order_changes`."""
    found = [each for each in places if each is not None]
    return max([*found, *(each.lsn for each in state.snapshots.values())]) if found else None


def order_changes(changes: Changes, state: LogState) -> Changes:
    """Return the changes of rows, each with its place in the order of all."""
    cases = [
        f"WHEN _kafka_partition = {partition} AND _offset >= {each.offset}"
        f" THEN GREATEST(_lsn, {each.lsn})"
        for partition, each in state.snapshots.items()
    ]
    if cases:
        newest = max(each.lsn for each in state.snapshots.values())
        own = {at: each.time for at, each in state.snapshots.items() if each.lsn == newest}
        if began := min(filter(None, own.values()), default=0):
            elsewhere = f"_kafka_partition NOT IN ({', '.join(own)})"
            later = f"_kafka_timestamp >= TIMESTAMP_MICROS({began})"
            cases.insert(0, f"WHEN {elsewhere} AND {later} THEN GREATEST(_lsn, {newest})")
    place = f"CASE {' '.join(cases)} ELSE _lsn END" if cases else "_lsn"
    rows = changes.rows.withColumn("_lsn", F.expr(place))
    return replace(changes, rows=rows.filter("_op <> 't'"))


def find_net(changes: Changes, state: LogState, unavailable: str = "") -> DataFrame:
    """Return the last change of each row that is not over, by its key; without a key, none.

    Columns are `event`, `_deleted`, `_lsn`, `_offset`, `_changed_at`. If the text of values that
    are `unavailable` is given, each such field has the value of the last change that has one; a
    deletion counts as a change to null. `_kept_FIELD` has the place of that change, or null.
    """
    last = F.struct("event", "_op", "_lsn", "_offset", "_changed_at")
    position = F.struct("_lsn", "_offset")
    key, rows = state.key, _drop_over(changes.rows, state)
    keys = [F.expr(f"{EVENT}.{quote(each)}").alias(f"_key_{at}") for at, each in enumerate(key)]
    found = find_unavailable(changes.type, unavailable) if unavailable else ()
    lost = {name: is_lost for name, is_lost in found if name not in key}
    kept = [
        F.expr(
            f"MAX_BY(STRUCT(IF(_op = 'd', NULL, {EVENT}.{quote(name)}) AS value, _lsn AS lsn),"
            f" STRUCT(_lsn, _offset)) FILTER (WHERE _op = 'd' OR NOT {is_lost})"
        ).alias(f"{KEPT}{name}")
        for name, is_lost in lost.items()
    ]
    net = rows.groupBy(*keys).agg(F.max_by(last, position).alias("_last"), *kept)
    values = ", ".join(
        f"'{each.name}', "
        + (
            f"{quote(KEPT + each.name)}.value"
            if each.name in lost
            else f"_last.{EVENT}.{quote(each.name)}"
        )
        for each in changes.type
    )
    event = f"NAMED_STRUCT({values})" if lost else f"_last.{EVENT}"
    return net.filter("TRUE" if key else "FALSE").selectExpr(
        f"{event} AS {EVENT}",
        "_last._op = 'd' AS _deleted",
        *(f"_last.{each} AS {each}" for each in ("_lsn", "_offset", "_changed_at")),
        *(f"{quote(KEPT + each)}.lsn AS {quote(KEPT + each)}" for each in lost),
    )


def _drop_over(rows: DataFrame, state: LogState) -> DataFrame:
    """Drop the changes from before a TRUNCATE or a whole snapshot."""
    if state.truncated is not None:
        commit, own, *_ = state.truncated
        end = f"NAMED_STRUCT('commit', {commit}L, 'own', {own}L)"
        rows = rows.filter(f"_written > {end}")
    if state.complete is not None:
        rows = rows.filter(f"_lsn >= {state.complete.lsn}")
    return rows


def find_unavailable(type_: StructType, text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields whose values may be unavailable, each with the condition that it is."""
    for each in type_:
        if sql := is_unavailable(f"{EVENT}.{quote(each.name)}", each.dataType, text):
            yield each.name, sql
