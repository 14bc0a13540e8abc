"""The summaries of sales, on literal rows: the same functions serve batches and streams."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pyspark.sql import Observation

from jobs.sales.records import load_regions, load_sales, read_sales
from jobs.sales.summaries import (
    format_totals,
    join_regions,
    latest_rows,
    rank_totals,
    total_in_windows,
    total_sales,
)

_NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
_SALES = (
    # minutes, amount, country
    (1, "0.10", "Peru"), (2, "0.20", "Peru"), (4, "1000.00", "Spain"), (6, "0.30", "Chad"),
    (14, "2.99", "Peru"),
)  # fmt: skip


@pytest.fixture(scope="module")
def sales(spark):
    rows = [
        (offset, Decimal(amount), country, _NOON.replace(minute=minute), 0, offset)
        for offset, (minute, amount, country) in enumerate(_SALES)
    ]
    columns = "payment_id int, amount decimal(10,2), country string, timestamp timestamp, "
    return spark.createDataFrame(rows, f"{columns} partition int, offset bigint")


def _show(totals, key):
    return [tuple(row) for row in format_totals(rank_totals(totals, key), key).collect()]


def test_cents_are_exact_and_equal_sales_are_in_the_order_of_the_key(sales):
    one_window = sales.filter("timestamp < timestamp'2026-11-23 12:10:00'")

    assert _show(total_sales(one_window, "country"), "country") == [
        ("Spain", "1,000.00", 1), ("Chad", "0.30", 1), ("Peru", "0.30", 2),
    ]  # fmt: skip


def test_a_country_without_a_region_is_unassigned(spark, sales, tmp_path):
    file = tmp_path / "regions.csv"
    file.write_text('"country","region"\n"Peru", "Latin America"\n"Peru","Latin America"\n')
    regions = load_regions(spark, str(file))

    assert _show(total_sales(join_regions(sales, regions), "region"), "region") == [
        ("Unassigned", "1,000.30", 2), ("Latin America", "3.29", 3),
    ]  # fmt: skip


def test_windows_overlap_and_the_newest_comes_first(sales):
    assert _show(total_in_windows(sales, "country"), "country") == [
        ("Peru", "2.99", 1, "2026-11-23 12:10", "2026-11-23 12:20"),
        ("Peru", "2.99", 1, "2026-11-23 12:05", "2026-11-23 12:15"),
        ("Chad", "0.30", 1, "2026-11-23 12:05", "2026-11-23 12:15"),
        ("Spain", "1,000.00", 1, "2026-11-23 12:00", "2026-11-23 12:10"),
        ("Chad", "0.30", 1, "2026-11-23 12:00", "2026-11-23 12:10"),
        ("Peru", "0.30", 2, "2026-11-23 12:00", "2026-11-23 12:10"),
        ("Spain", "1,000.00", 1, "2026-11-23 11:55", "2026-11-23 12:05"),
        ("Peru", "0.30", 2, "2026-11-23 11:55", "2026-11-23 12:05"),
    ]


def test_the_newest_row_of_a_key_is_the_last_of_its_partition(spark):
    """Its sales may be less as text, and the clock of an earlier writer ahead."""
    rows = [
        ("Peru", "948.63", 1, _NOON.replace(hour=13), 0, 1), ("Peru", "1,338.10", 2, _NOON, 0, 7),
        ("Peru", "996.00", 3, _NOON.replace(hour=11), 2, 99), ("Chad", None, 1, _NOON, 1, 3),
    ]  # fmt: skip
    columns = "country string, sales string, orders int, timestamp timestamp, partition int, "

    rows = spark.createDataFrame(rows, f"{columns} offset bigint")
    found = latest_rows(rows, "country").collect()

    assert sorted(map(tuple, found)) == [("Chad", None, 1), ("Peru", "1,338.10", 2)]


def test_a_payment_date_is_text_or_seconds_and_other_records_are_left_out_and_counted(spark):
    sale = {"payment_id": 7, "customer_id": 2, "amount": 10.99, "country": "Peru"}
    values = [
        json.dumps(sale | {"payment_date": 1_795_435_200}),
        json.dumps(sale | {"payment_date": "2026-11-23T12:00:00.000Z", "city": ""}),
        json.dumps(sale | {"amount": "much"}),
        "no sale",
        None,
    ]
    rows = [(value and value.encode(), _NOON, 0, at) for at, value in enumerate(values)]
    columns = "value binary, timestamp timestamp, partition int, offset bigint"
    records = spark.createDataFrame(rows, columns)

    watch = Observation("sales")

    found = read_sales(records, watch).selectExpr(
        "amount", "unix_seconds(payment_date)", "city", "offset"
    )

    noon = int(_NOON.timestamp())
    assert [tuple(row) for row in found.collect()] == [
        (Decimal("10.99"), noon, None, 0), (Decimal("10.99"), noon, "", 1),
    ]  # fmt: skip
    assert watch.get == {"sales": 2, "left_out": 3}


def test_a_file_of_sales_keeps_its_order_and_its_text(spark, tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text(
        "payment_id|customer_id|amount|payment_date|city|district|country\n"
        "9|1|5.99|2021-05-08 21:21:56.996577 +00:00|||Peru\n8|2|0.99|x|a|b|Chad"
    )

    assert [tuple(row) for row in load_sales(spark, str(file)).collect()] == [
        (9, 1, Decimal("5.99"), "2021-05-08 21:21:56.996577 +00:00", None, None, "Peru"),
        (8, 2, Decimal("0.99"), "x", "a", "b", "Chad"),
    ]
