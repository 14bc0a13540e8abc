"""An Iceberg table with each version of each row, and the time from and until which it was valid.

    _valid_from   when the change was made that made the version
    _valid_to     when the next change of the row was made; null for the version that is valid now
    _lsn, _offset              the position of the change that made the version
    _until_lsn, _until_offset  the position of the change that ended it
    _older_lsn    the places of values that are older: those that the change did not have

The versions of a row that is not deleted in between have no gap: a version ends at the very time at
which the next one begins. Changes of one transaction have one time, so a version may be valid for
no time at all.

The changes of a batch and the versions that a row has are put in one order, from which each version
gets its end and its long values. A batch that comes in order reads the valid versions of its rows,
any other one all of them. A deletion that ends no version, or none any more, leaves no trace there:
the table TABLE_deleted has it, for changes from before it that come later
(docs/adr/0049-changes-by-position.md).
"""

# ruff: noqa: S608 - every name in these statements is quoted or our own

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.extensions.cdc.spark.current import (
    DELETED,
    POSITION,
    Deletions,
    add_older,
    compact_new_files,
    create_row_table,
    find_bounds,
    find_key_columns,
    find_last,
    load_table,
)
from penstock.extensions.cdc.spark.items import NONE, OLDER
from penstock.extensions.cdc.spark.long_values import write_older
from penstock.extensions.cdc.spark.net import BatchLog, Moment, find_unavailable
from penstock.extensions.cdc.spark.sink import ChangeBatch, keep, named_view
from penstock.spark.columns import match_columns
from penstock.spark.lake.conversion import project_event, quote, quote_text
from penstock.spark.lake.expiration import Expiration
from penstock.spark.lake.iceberg import (
    KNOWN_CATALOG,
    WRITER_CATALOG,
    qualify_table,
    register_known_catalog,
    run_commit,
)
from penstock.spark.lake.widening import grow_table

_ADDED: Final = {
    "_lsn": "bigint",
    "_offset": "bigint",
    "_valid_from": "TIMESTAMP",
    "_valid_to": "TIMESTAMP",
    "_until_lsn": "bigint",
    "_until_offset": "bigint",
}
_ENDS: Final = {"_until_lsn": "_lsn", "_until_offset": "_offset", "_valid_to": "_valid_from"}
_PLACE: Final = "STRUCT(_lsn, _offset, _valid_from)"
_UNTIL: Final = [f"{name} AS {of}" for name, of in _ENDS.items()]
_LAST: Final = (
    "GREATEST(_lsn, _until_lsn) AS _lsn",
    "COALESCE(_valid_to, _valid_from) AS _changed_at",
)
_DELETION: Final = ("_lsn", "_offset", "_valid_from AS _changed_at")
_GIVEN: Final = "_given_"  # prefix of columns with a change's long value and its place
_FOUND: Final = "_found_"  # prefix of those with the last one of them


@dataclass(frozen=True, slots=True)
class _Target:
    """The table, as the changes of a batch find it.

    Attributes:
        columns: the table's columns.
        key: those of the primary key.
        long: the columns whose values a change may not have, each with that condition.
        is_late: whether a change may be from before another one that the table has.
    """

    columns: StructType
    key: Sequence[str]
    long: Mapping[str, str]
    is_late: bool

    @property
    def by_key(self) -> list[str]:
        """Return the columns of the primary key, for SQL."""
        return [quote(each) for each in self.key]


class HistoryTable:
    """An Iceberg table with each version of each row.

    Args:
        table: its name, as DATABASE.TABLE.
        unavailable: the text that stands for values which the log does not have.
        remembered_days: how long a deletion that ended no version is kept.
    """

    def __init__(self, table: str, unavailable: str, remembered_days: int = 8) -> None:
        self.name, self._known_as = qualify_table(table), qualify_table(table, KNOWN_CATALOG)
        self._written_as = qualify_table(table, WRITER_CATALOG)
        self._unavailable = unavailable
        self._deletions = Deletions(f"{table}{DELETED}", remembered_days)
        self._expiration = Expiration()
        self._last: int | None = None  # no change has a later place, once it is known

    def write(self, batch: ChangeBatch) -> None:
        """Write the versions that changes make, and end those before them; this is idempotent.

        Raises:
            JobError: a column would round a whole number, and nothing is written; or the database
                was restored to an earlier place.
            SchemaConflictError: a column cannot hold a field of the records; nothing is written.
            SinkUnavailableError: other commits came first, or the clock is behind theirs; write the
                batch again.
        """
        spark = batch.spark
        self._deletions.forget(spark)
        if batch.log.has_rows:
            create_row_table(spark, self.name, batch, _ADDED)
        elif not spark.catalog.tableExists(self.name):
            return
        table = load_table(spark, self.name, self._written_as)
        before = table.sequence()
        if batch.log.has_rows:
            batch.check_exact(table.schema())
            grow_table(spark, table, batch.changes.type)
            if batch.log.is_unavailable:
                add_older(spark, table)
            self._write_versions(batch, table.schema())
        if batch.log.complete is not None:
            changes = spark.table(self.name).selectExpr(*_LAST)
            batch.check_places(changes, self._deletions.read(spark))
        for moment in (*batch.log.truncations, batch.log.over):
            if moment is not None:
                self._end_before(batch, moment)
        table.refresh()
        compact_new_files(spark, table, before)
        self._expiration.expire(table)

    def _write_versions(self, batch: ChangeBatch, columns: StructType) -> None:
        key = find_key_columns(columns, batch)
        is_late = self._is_late(batch, columns, key)
        needs_long = is_late or batch.log.is_unavailable
        long = self._find_long(batch, columns) if needs_long and OLDER in columns.names else {}
        target = _Target(columns, key, long, is_late)
        changes = _read_changes(batch, target)
        bounds = find_bounds(changes, key[0], columns)
        known = self._read_known(changes, target, bounds)
        both = changes.unionByName(known, allowMissingColumns=True)
        if is_late:
            both = _drop_written(both, target)
        with keep(_put_in_order(both, target, batch.log)) as ordered:
            if is_late or batch.log.deleted is not None:
                unseen = ordered.filter("_op = 'd' AND NOT _is_kept AND NOT _ends_one")
                if not unseen.isEmpty():
                    self._deletions.append(unseen.selectExpr(*target.by_key, *_DELETION))
            changed = ordered.filter("_op <> 'd' AND _is_changed")
            self._merge(changed, target, bounds, batch)

    def _is_late(self, batch: ChangeBatch, columns: StructType, key: Sequence[str]) -> bool:
        """Return whether a change may be from before one that was written."""
        if self._last is None:
            self._last = self._open(batch, columns, key)
        is_late = batch.log.least <= self._last
        self._last = max(self._last, batch.log.greatest)
        return is_late

    def _open(self, batch: ChangeBatch, columns: StructType, key: Sequence[str]) -> int:
        """Return the last place of the changes that were written, -1 without any."""
        register_known_catalog(batch.spark)
        values = project_event(batch.changes.type, columns)
        keys = (f"{values[each]} AS {quote(each)}" for each in key)
        deleted = self._deletions.open(batch.changes.rows.selectExpr(*keys, *POSITION))
        written = batch.spark.table(self.name)
        return max(deleted, find_last(written, "GREATEST(_lsn, _until_lsn)"))

    def _find_long(self, batch: ChangeBatch, columns: StructType) -> dict[str, str]:
        """Return the columns whose values the log may not have, each with that condition."""
        fields = match_columns(columns, batch.changes.type, is_nested=False)
        lost = dict(find_unavailable(batch.changes.type, self._unavailable))
        return {
            name: lost[field.name]
            for name, field in fields.items()
            if field.name in batch.long_fields
        }

    def _read_known(self, changes: DataFrame, target: _Target, bounds: Sequence[str]) -> DataFrame:
        """Return what the table has of the rows of changes: their versions, and their deletions."""
        spark = changes.sparkSession
        wanted = [*bounds, *([] if target.is_late else ["_until_lsn IS NULL"])]
        keys = changes.select(*target.by_key).distinct()
        found = spark.table(self._known_as).alias("t").filter(" AND ".join(wanted) or "TRUE")
        found = found.join(keys, [*target.key], "left_semi")
        versions = found.selectExpr(
            *(quote(each) for each in target.columns.names if each not in {OLDER, *_ENDS}),
            "'u' AS _op",
            "FALSE AS _is_new",
            "FALSE AS _is_kept",
            f"IF(_until_lsn IS NULL, NULL, STRUCT({', '.join(_UNTIL)})) AS _until",
            *(
                f"STRUCT({quote(name)} AS value,"
                f" COALESCE({OLDER}[{quote_text(name)}], _lsn) AS lsn) AS {_GIVEN}{at}"
                for at, name in enumerate(target.long)
            ),
        )
        if not target.is_late:
            return versions
        order = Window.partitionBy(*target.by_key).orderBy("_lsn", "_offset")
        ended = found.withColumn("_next", F.lead(F.struct("_lsn", "_offset")).over(order)).filter(
            "_until_lsn IS NOT NULL AND NOT STRUCT(_until_lsn, _until_offset) <=> _next"
        )
        deletions = ended.selectExpr(*target.by_key, *_UNTIL, "FALSE AS _is_kept")
        kept = self._deletions.read(spark).withColumnRenamed("_changed_at", "_valid_from")
        kept = kept.join(keys, [*target.key], "left_semi").selectExpr("*", "TRUE AS _is_kept")
        deletions = deletions.unionByName(kept)
        deletions = deletions.selectExpr("*", "'d' AS _op", "FALSE AS _is_new")
        return versions.unionByName(deletions, allowMissingColumns=True)

    def _merge(
        self, source: DataFrame, target: _Target, bounds: Sequence[str], batch: ChangeBatch
    ) -> None:
        names = [quote(each) for each in target.columns.names if each in source.columns]
        same = [f"t.{each} = s.{each}" for each in (*target.by_key, "_lsn", "_offset")]
        # The versions of a batch in order are there only if another job has written it meanwhile.
        own = f"(t._until_lsn IS NULL OR t._lsn >= {batch.log.least})"
        valid = [] if target.is_late else [own]
        updated = [*_ENDS, *map(quote, target.long), *([OLDER] if target.long else [])]
        with named_view(source) as view:
            batch.lease.check()
            run_commit(
                source.sparkSession,
                f"""
                MERGE INTO {self._written_as} t USING {view} s
                ON {" AND ".join([*same, *bounds, *valid])}
                WHEN MATCHED THEN UPDATE SET {", ".join(f"t.{each} = s.{each}" for each in updated)}
                WHEN NOT MATCHED THEN
                    INSERT ({", ".join(names)}) VALUES ({", ".join(f"s.{each}" for each in names)})
                """,
                self.name,
            )

    def _end_before(self, batch: ChangeBatch, moment: Moment) -> None:
        """End the versions that are valid since before a place of the log."""
        batch.lease.check()
        run_commit(
            batch.spark,
            f"UPDATE {self._written_as} SET _valid_to = TIMESTAMP_MICROS({moment.time}),"
            f" _until_lsn = {moment.lsn}, _until_offset = {moment.offset}"
            f" WHERE _until_lsn IS NULL AND {moment.is_later}",
            self.name,
        )


def _read_changes(batch: ChangeBatch, target: _Target) -> DataFrame:
    """Return the changes of a batch with the table's columns."""
    values = project_event(batch.changes.type, target.columns)
    return batch.changes.rows.selectExpr(
        *(f"{value} AS {quote(name)}" for name, value in values.items()),
        *("_op", "_lsn", "_offset", "_changed_at AS _valid_from"),
        *("TRUE AS _is_new", "FALSE AS _is_kept"),
        *(
            f"IF({is_lost} OR _op = 'd', NULL, STRUCT({values[name]} AS value, _lsn AS lsn))"
            f" AS {_GIVEN}{at}"
            for at, (name, is_lost) in enumerate(target.long.items())
        ),
    )


def _drop_written(both: DataFrame, target: _Target) -> DataFrame:
    """Return changes and versions, each once: changes that the table has have one place there."""
    places = ("_lsn", "_offset", "_is_new", F.expr("NOT _is_kept"))
    order = Window.partitionBy(*target.by_key).orderBy(*places)
    before = F.lag(F.struct("_lsn", "_offset")).over(order)
    return both.withColumn("_before", before).filter("NOT _before <=> STRUCT(_lsn, _offset)")


def _put_in_order(changes: DataFrame, target: _Target, log: BatchLog) -> DataFrame:
    """Return changes and versions with their ends, and with the last value of each long column."""
    order = Window.partitionBy(*target.by_key).orderBy("_lsn", "_offset")
    end = F.least(F.lead(F.expr(_PLACE)).over(order), F.expr(_find_truncation(log)))
    before = F.lag(F.expr("IF(_op = 'd', NULL, _end)")).over(order)
    ordered = changes.withColumn("_end", end).withColumns(
        {name: F.col(f"_end.{of}") for name, of in _ENDS.items()}
        | {"_ends_one": before.eqNullSafe(F.expr(_PLACE))}
    )
    until_here = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    last, values, places = dict[str, Column](), dict[str, Column](), dict[str, str]()
    is_changed = ["_is_new", "NOT _end <=> _until"]
    for at, name in enumerate(target.long):
        given, found = f"{_GIVEN}{at}", f"{_FOUND}{at}"
        place = f"IF(_op = 'd', _lsn, {given}.lsn)"  # a deletion is a change to null
        value = F.expr(f"STRUCT({given}.value AS value, {place} AS lsn)")
        last[found] = F.max_by(value, F.expr(place)).over(until_here)
        values[name] = F.col(f"{found}.value")
        places[quote_text(name)] = f"COALESCE({found}.lsn, {NONE}L)"
        is_changed.append(f"{found}.lsn <> {given}.lsn")
    if last:
        ordered = ordered.withColumns(last).withColumns(values)
        ordered = ordered.withColumn(OLDER, F.expr(write_older(places, "_lsn")))
    return ordered.withColumn("_is_changed", F.expr(" OR ".join(is_changed)))


def _find_truncation(log: BatchLog) -> str:
    """Return the SQL of the first TRUNCATE after a change, with its time."""
    known = {*log.truncations, *filter(None, [log.state.truncated])}
    moments = ", ".join(
        f"NAMED_STRUCT('_lsn', {each.lsn}L, '_offset', {each.offset}L,"
        f" '_valid_from', TIMESTAMP_MICROS({each.time}))"
        for each in sorted(known)
    )
    later = "STRUCT(t._lsn, t._offset) > STRUCT(_lsn, _offset)"
    none = "CAST(NULL AS STRUCT<_lsn: BIGINT, _offset: BIGINT, _valid_from: TIMESTAMP>)"
    return f"ARRAY_MIN(FILTER(ARRAY({moments}), t -> {later}))" if moments else none
