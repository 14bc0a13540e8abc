"""Columns that Iceberg cannot widen: whole numbers to doubles, alone or inside of something.

At every moment the old column or the new one is there whole under the one name:

    1. a column `_next_x` of the wider type is added
    2. it is filled from `x`, data file by data file, in one commit
    3. in one commit of the metadata `x` becomes `_before_1_x`, and `_next_x` becomes `x`

A crash between two of them is made up for when the column is asked for again. `_before_1_x` stays:
it holds the whole numbers that no double equals (`x` is null there), and what another query wrote
to `x` in the meantime, which step 2 is done again for.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField

from penstock.spark.lake.columns import Growth, NewColumn, is_same
from penstock.spark.lake.conversion import Inexact, convert, quote
from penstock.spark.lake.iceberg import IcebergTable

_NEXT: Final = "_next_"


def rewrite_columns(
    spark: SparkSession, table: IcebergTable, columns: Iterable[StructField]
) -> None:
    """Make columns of the table as wide as these, which cost reading and writing their rows."""
    for column in columns:
        old = table.schema()[column.name]
        following = _prepare(table, column)
        _fill(spark, table, following, old)
        before = _free_name(table, column.name)
        table.rename({old.name: before, following.name: column.name})
        table.describe(before, f"{column.name} before it became {column.dataType.simpleString()}")
        _fill(spark, table, column, StructField(before, old.dataType))


def _prepare(table: IcebergTable, column: StructField) -> StructField:
    """Add the column that is to take the place, or find the one that was added before a crash."""
    following = StructField(f"{_NEXT}{column.name}", column.dataType, True, column.metadata)
    columns = table.schema()
    if following.name in columns.names:
        if is_same(columns[following.name].dataType, following.dataType):
            return following
        table.drop(following.name)
    table.grow(lambda _: Growth(added=(NewColumn(None, following),)))
    return following


def _fill(spark: SparkSession, table: IcebergTable, to: StructField, source: StructField) -> None:
    value = convert(quote(source.name), source.dataType, to.dataType, Inexact.NULL)
    name = quote(to.name)
    # What no double equals is left out, or its files would be written anew each time.
    where = f"{name} IS NULL AND {value} IS NOT NULL"
    spark.sql(f"UPDATE {table.name} SET {name} = {value} WHERE {where}")  # noqa: S608 # all quoted
    table.refresh()


def _free_name(table: IcebergTable, column: str) -> str:
    names = table.schema().names
    return next(
        name for name in (f"_before_{number}_{column}" for number in count(1)) if name not in names
    )
