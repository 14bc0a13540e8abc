"""Rows of batches, and a lake in a folder that is read as people read one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from pyiceberg.table import StaticTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.rows import EVENT
from penstock.spark.sinks.base import Part
from penstock.spark.sinks.iceberg import Lake
from penstock.tables import COORDINATES, BatchId

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp()) * 1_000
_ROW = ", ".join(
    [
        *(f"{name} {type_}" for name, type_ in COORDINATES.items()),
        "_key binary, _value binary, _headers array<struct<key: string, value: binary>>",
    ]
)


SCHEMA_ID = "d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e"


def make_rows(
    spark: SparkSession,
    columns: str,
    *events: tuple[Any, ...],
    first: int = 0,
) -> DataFrame:
    """Rows of events with these columns, at offsets that begin with `first`."""
    rows = [
        (event, "t", 0, first + place, NOON, SCHEMA_ID, 1, b"key", b"value", None)
        for place, event in enumerate(events)
    ]
    frame = spark.createDataFrame(rows, f"record struct<{columns}>, {_ROW}")
    names = [name for name in frame.columns if name != "record"]
    return frame.select(F.col("record").alias(EVENT), *names)


class LakeReader:
    """One table of a lake in a folder: written by `lake`, and read without Spark."""

    def __init__(self, spark: SparkSession, folder: Path, table: str) -> None:
        """Name the table."""
        self.spark = spark
        self.name = f"lake.{table}"
        self.lake = Lake(spark, table)
        self._folder = folder.joinpath(*table.split("."))

    def again(self) -> Lake:
        """What a driver that was started again has."""
        return Lake(self.spark, self.name.removeprefix("lake."))

    def table(self) -> IcebergTable:
        """The table as Iceberg has it."""
        return IcebergTable(self.spark, self.name)

    def load(self) -> StaticTable:
        """The table as pyiceberg has it."""
        metadata = self._folder / "metadata"
        version = (metadata / "version-hint.text").read_text().strip()
        (newest,) = metadata.glob(f"v{version}.*metadata.json")  # tables of the lake have gzip
        return StaticTable.from_metadata(str(newest))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask DuckDB, which gets the rows from pyiceberg; the table is called `t`."""
        with duckdb.connect() as connection:
            connection.register("t", self.load().scan().to_arrow())
            return connection.execute(sql).fetchall()

    def delete(self, condition: str) -> None:
        """Delete rows as Athena does: by delete files, which leave the data files as they are."""
        mode = "'write.delete.mode' 'merge-on-read'"
        self.spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({mode})")
        self.spark.sql(f"DELETE FROM {self.name} WHERE {condition}")


def part(of: int, number: int, offsets: str = "", query: str = "q", versions=()) -> Part:
    """A part of a batch of a query."""
    return Part(batch(of, offsets, query), number, tuple(versions))


def batch(number: int, offsets: str = "", query: str = "q") -> BatchId:
    """A batch of a query."""
    return BatchId(query, number, offsets)
