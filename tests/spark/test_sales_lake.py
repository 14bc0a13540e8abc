"""Sales that are followed from a table of the lake, and totals in another one."""

from __future__ import annotations

import secrets
from datetime import timedelta

import pytest

from jobs.sales import main as sales
from penstock.spark import session
from tests.spark.records import NOON

_COLUMNS = (
    "payment_id int, amount float, country string, _topic string, _kafka_partition int, "
    "_offset bigint, _kafka_timestamp timestamp"
)


@pytest.mark.usefixtures("only_full_batches")
def test_totals_follow_the_snapshots_of_a_table(spark, lake_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "build_session", lambda name: spark)
    database = f"sales_{secrets.token_hex(4)}"
    spark.sql(f"CREATE TABLE lake.{database}.sales ({_COLUMNS}) USING iceberg")

    def append(*sales, columns=_COLUMNS, more=()):
        rows = [
            (number, amount, country, "t", 0, number, NOON + timedelta(minutes=number), *more)
            for number, amount, country in sales
        ]
        spark.createDataFrame(rows, columns).writeTo(f"lake.{database}.sales").append()

    def follow():
        sales.main([
            "lake", "--table", f"{database}.sales", "--output-table", f"{database}.totals",
            "--bucket", tmp_path.as_uri(), "--checkpoint", f"{tmp_path.as_uri()}/checkpoint",
            "--trigger", "available-now",
        ])  # fmt: skip

    append((0, 4.99, "Peru"), (1, 0.99, "Mali"))
    follow()
    spark.sql(f"ALTER TABLE lake.{database}.sales ADD COLUMN channel string")
    again = {"columns": f"{_COLUMNS}, channel string", "more": ("shop",)}
    append((0, 4.99, "Peru"), (2, 7.99, "Peru"), **again)
    append((1, 0.99, "Mali"), **again)
    follow()

    rows = spark.table(f"lake.{database}.totals").orderBy("country", "window_start").collect()
    assert [(row.country, row.window_start.minute, str(row.sales), row.orders) for row in rows] == [
        ("Mali", 55, "0.99", 1), ("Mali", 0, "0.99", 1),
        ("Peru", 55, "12.98", 2), ("Peru", 0, "12.98", 2),
    ], "a payment that is sent again counts once, in a row for each window"  # fmt: skip
