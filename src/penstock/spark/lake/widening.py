"""Widen columns that Iceberg cannot: whole numbers to doubles, alone or nested.

At every moment either the old or the new column is complete under the one name, but for rows that
others write meanwhile:

    1. Add a column `_next_x` of the wider type.
    2. Fill it from `x`, data file by data file, in one commit.
    3. In one metadata commit, rename `x` to `_before_1_x` and `_next_x` to `x`.
    4. Fill `x` from `_before_1_x`, where another query wrote rows before the rename.

After a crash, the next request for the column continues; a property of the table says that step 4
is left, which any query then takes before it writes. `_before_1_x` stays: it holds the whole
numbers that no double equals (`x` is null there), and the rows that another query staged before the
rename and publishes after it. Step 4 is repeated for these rows: by a query that publishes them or
finds their part there, and by `jobs/maintain_lake.py`.
"""

from __future__ import annotations

import logging
from itertools import count
from typing import Final

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from penstock.errors import SinkUnavailableError
from penstock.spark.columns import (
    compare_columns,
    is_same,
    merge_columns,
    read_columns,
    to_field,
)
from penstock.spark.lake.conversion import convert, quote
from penstock.spark.lake.iceberg import IcebergTable, repeat_commit
from penstock.tables import Growth, NewColumn, cut_comment, mark_replaced, read_replaced

_LOG = logging.getLogger(__name__)

_NEXT: Final = "_next_"
_UNFILLED: Final = "penstock.unfilled."


def grow_table(spark: SparkSession, table: IcebergTable, event: StructType) -> None:
    """Give a table the columns and the wider types that rows of this type need.

    Raises:
        SchemaConflictError: a column cannot hold a field of the rows.
        SinkUnavailableError: other commits came first; call it again.
    """

    def plan(columns: StructType) -> Growth:
        return compare_columns(columns, merge_columns(columns, event))

    if plan(table.schema()) != Growth():
        growth = table.grow(plan)
        for column in growth.rewritten:
            _rewrite_column(spark, table, to_field(column))
        _LOG.info("%s grew: %s", table.name, growth)
    _end_widenings(spark, table)


def _rewrite_column(spark: SparkSession, table: IcebergTable, column: StructField) -> None:
    """Widen a column of the table to a type; this reads and rewrites its rows."""
    old = table.schema()[column.name]
    following = _prepare(table, column, old)
    try:
        _fill(spark, table, following, old)
        before = _free_name(table, column.name)
        comment = f"{mark_replaced(column.name)}{column.dataType.simpleString()}"
        table.set_properties({f"{_UNFILLED}{before}": column.name})
        names = {old.name: before, following.name: column.name}
        table.rename(names, {old.name: cut_comment(comment)})
    except (AnalysisException, IllegalArgumentException) as error:
        table.refresh()
        if _has(table, following):
            raise
        raise SinkUnavailableError(
            f"another query widened {column.name} of {table.name} first"
        ) from error


def _end_widenings(spark: SparkSession, table: IcebergTable) -> None:
    """Fill widened columns of rows that others wrote before the rename."""
    columns = table.schema()
    if replaced := find_replaced(columns):
        properties = table.properties()
        for before, name in replaced.items():
            if f"{_UNFILLED}{before}" in properties:
                _fill(spark, table, columns[name], columns[before])
                table.remove_property(f"{_UNFILLED}{before}")


def refill_columns(spark: SparkSession, table: IcebergTable) -> None:
    """Fill widened columns of rows that have their values only in the old columns."""
    columns = table.schema()
    for before, name in find_replaced(columns).items():
        _fill(spark, table, columns[name], columns[before])


def find_replaced(columns: StructType) -> dict[str, str]:
    """Return the columns that were widened, by the names that the old ones have since."""
    found = {
        each.name: read_replaced(each.name, str(each.metadata.get("comment"))) for each in columns
    }
    return {name: now for name, now in found.items() if now is not None and now in columns.names}


def whole_column(rows: DataFrame, name: str) -> Column:
    """Return a column of a table's rows; where it is null, what it was before it was widened."""
    old = [before for before, now in find_replaced(rows.schema).items() if now == name]
    return F.coalesce(name, *old).alias(name)


def _prepare(table: IcebergTable, column: StructField, old: StructField) -> StructField:
    """Add the column that replaces a column, or return the one that another job added."""
    following = StructField(f"{_NEXT}{column.name}", column.dataType, True, column.metadata)
    if following.name in table.schema().names and not _has(table, following):
        table.drop(following.name)
    added = read_columns(StructType([following])).columns[0]

    def plan(columns: StructType) -> Growth:
        is_over = not is_same(columns[old.name].dataType, old.dataType)
        if is_over or following.name in columns.names:
            return Growth()
        return Growth(added=(NewColumn(None, added),))

    table.grow(plan)
    return following


def _has(table: IcebergTable, column: StructField) -> bool:
    columns = table.schema()
    return column.name in columns.names and is_same(columns[column.name].dataType, column.dataType)


def _fill(spark: SparkSession, table: IcebergTable, to: StructField, source: StructField) -> None:
    value = convert(quote(source.name), source.dataType, to.dataType)
    name = quote(to.name)
    # Numbers that no double equals are left out; their files would be rewritten each time.
    where = f"{name} IS NULL AND {value} IS NOT NULL"
    statement = f"UPDATE {table.name} SET {name} = {value} WHERE {where}"  # noqa: S608 # all quoted
    repeat_commit(spark, statement, table)


def _free_name(table: IcebergTable, column: str) -> str:
    names = table.schema().names
    return next(
        name for name in (f"_before_{number}_{column}" for number in count(1)) if name not in names
    )
