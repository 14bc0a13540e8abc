"""The net change of each row in a batch, and which changes are older than what a table has.

The position of a change is its place in the database's log (`_lsn`), then its Kafka offset. Changes
of one row hold its lock, so their places in the log have the order of their commits. A transaction
that was open when a snapshot was made has places before that of the snapshot, and commits after it:
in a Kafka partition, a change after a snapshot's records has at least the snapshot's place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
_MOMENT: Final = "STRUCT(_lsn, UNIX_MICROS(_changed_at))"
_MEASURES: Final = {
    "changes": "COUNT(*)",
    "rows": "COUNT_IF(_op <> 't')",
    "without_lsn": "COUNT_IF(_lsn IS NULL)",
    "unknown": "COUNT_IF(_op IS NULL OR _op NOT IN ('r', 'c', 'u', 'd', 't'))",
    "snapshot": f"MIN(IF({_IS_SNAPSHOT}, STRUCT(-_lsn, _offset), NULL))",
    "complete": f"MAX(IF(_op = 'r' AND _snapshot IN ({_COMPLETE}), {_MOMENT}, NULL))",
    "truncated": f"MAX(IF(_op = 't', {_MOMENT}, NULL))",
    "least": "MIN(_lsn)",
}


@dataclass(frozen=True, slots=True)
class LogState:
    """The state of a table's log that outlives a batch.

    Attributes:
        snapshots: by Kafka partition, the first offset of its last snapshot, and the place of that.
        truncated: the place of the last TRUNCATE; changes before it are over.
    """

    snapshots: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    truncated: int = -1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a state from JSON."""
        found = json.loads(text)
        snapshots = {each: (at, lsn) for each, (at, lsn) in found["snapshots"].items()}
        return cls(snapshots, found["truncated"])

    def __str__(self) -> str:
        """Return the state as JSON."""
        return json.dumps(asdict(self))


class Moment(NamedTuple):
    """A place in the log, and its time in microseconds."""

    lsn: int
    time: int


@dataclass(frozen=True, slots=True)
class BatchLog:
    """The figures of the changes in a part of a batch.

    Attributes:
        state: the state of the log with these changes.
        changes: their number.
        has_rows: whether one of them is of a row.
        truncated: the place of a TRUNCATE among them: rows of earlier places are deleted.
        complete: the place of a snapshot that ends here: rows of earlier places were deleted.
        least: the first place of a change.
        is_unavailable: whether values are missing, which the rows have that are there.
    """

    state: LogState
    changes: int
    has_rows: bool
    truncated: Moment | None
    complete: Moment | None
    least: int
    is_unavailable: bool


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
    snapshots = {
        str(row["_kafka_partition"]): (row["snapshot"][1], -row["snapshot"][0])
        for row in found
        if row["snapshot"] is not None
    }
    later = {
        each: place
        for each, place in snapshots.items()
        if place[1] > before.snapshots.get(each, (0, -1))[1]
    }
    truncated = _greatest(found, "truncated")
    last = before.truncated if truncated is None else max(before.truncated, truncated.lsn)
    return BatchLog(
        LogState({**before.snapshots, **later}, last),
        sum(row["changes"] for row in found),
        any(row["rows"] for row in found),
        truncated,
        _greatest(found, "complete"),
        min((row["least"] for row in found), default=0),
        any(row["lost"] for row in found),
    )


def _greatest(rows: Sequence[Row], name: str) -> Moment | None:
    return max((Moment(*row[name]) for row in rows if row[name] is not None), default=None)


def order_changes(changes: Changes, state: LogState) -> Changes:
    """Return the changes of rows that are not over, each with its place in the order of all."""
    cases = " ".join(
        f"WHEN _kafka_partition = {each} AND _offset >= {offset} THEN GREATEST(_lsn, {lsn})"
        for each, (offset, lsn) in state.snapshots.items()
    )
    place = f"CASE {cases} ELSE _lsn END" if cases else "_lsn"
    rows = changes.rows.withColumn("_lsn", F.expr(place))
    return replace(changes, rows=rows.filter(f"_op <> 't' AND _lsn >= {state.truncated}"))


def find_net(changes: Changes, key: Sequence[str], unavailable: str = "") -> DataFrame:
    """Return the last change of each row, by the fields of its key; without a key, none.

    Columns are `event`, `_deleted`, `_lsn`, `_offset`, `_changed_at`. If the text of values that
    are `unavailable` is given, a value that the last change does not have is that of a change
    before it, and `_kept_FIELD` has the place of that change; it is null if no change has it.
    """
    last = F.struct("event", "_op", "_lsn", "_offset", "_changed_at")
    position = F.struct("_lsn", "_offset")
    keys = [F.expr(f"{EVENT}.{quote(each)}").alias(f"_key_{at}") for at, each in enumerate(key)]
    lost = dict(find_unavailable(changes.type, unavailable)) if unavailable else {}
    kept = [
        F.expr(
            f"MAX_BY(STRUCT({EVENT}.{quote(name)} AS value, _lsn AS lsn), STRUCT(_lsn, _offset))"
            f" FILTER (WHERE NOT {is_lost})"
        ).alias(f"{KEPT}{name}")
        for name, is_lost in lost.items()
    ]
    net = changes.rows.groupBy(*keys).agg(F.max_by(last, position).alias("_last"), *kept)
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


def find_unavailable(type_: StructType, text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields whose values may be unavailable, each with the condition that it is."""
    for each in type_:
        if sql := is_unavailable(f"{EVENT}.{quote(each.name)}", each.dataType, text):
            yield each.name, sql
