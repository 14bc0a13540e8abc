"""Sales of a table of the lake: in a batch, and followed into tables of totals."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from datetime import timedelta

import pytest

from jobs.sales import main as sales
from penstock.errors import CheckpointError
from penstock.spark import session
from penstock.spark.lake.iceberg import IcebergTable
from tests.spark.records import NOON

_COLUMNS = (
    "payment_id int, amount float, country string, _topic string, _kafka_partition int, "
    "_offset bigint, _kafka_timestamp timestamp"
)
_YEARS = 10**8  # minutes


@pytest.fixture
def default_partitions(spark):
    """Divide what is shuffled as Spark does by default."""
    name = "spark.sql.shuffle.partitions"
    chosen = spark.conf.get(name)
    spark.conf.set(name, "200")
    yield
    spark.conf.set(name, chosen)


@pytest.mark.usefixtures("default_partitions", "only_full_batches")
def test_totals_follow_the_snapshots_of_a_table(spark, lake_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(session, "build_session", lambda name: spark)
    database = f"sales_{secrets.token_hex(4)}"
    spark.sql(f"CREATE TABLE lake.{database}.sales ({_COLUMNS}) USING iceberg")

    def append(*sales, columns=_COLUMNS, more=()):
        rows = [
            (number, amount, country, "t", 0, number, NOON + timedelta(minutes=number), *more)
            for number, amount, country in sales
        ]
        spark.createDataFrame(rows, columns).writeTo(f"lake.{database}.sales").append()

    def run(command, *flags):
        table = ("--table", f"{database}.sales", "--bucket", tmp_path.as_uri())
        sales.main([command, *table, *flags])
        printed = capsys.readouterr().out.splitlines()
        return [json.loads(line) for line in printed if line.startswith("{")]

    def follow(name, by="country"):
        return run(
            f"lake-{name}", "--output-table", f"{database}.{name}", "--trigger", "available-now",
            "--checkpoint", f"{tmp_path.as_uri()}/{name}", "--by", by,
        )  # fmt: skip

    (tmp_path / "spark").mkdir()
    (tmp_path / "spark/sales_regions.csv").write_text("country,region\nPeru,Latin America\n")
    append((0, 4.99, "Peru"), (1, 0.99, "Mali"))
    (first,) = follow("totals")
    assert len(list((tmp_path / "totals/state/0").glob("[0-9]*"))) == 4
    spark.sql(f"ALTER TABLE lake.{database}.sales ADD COLUMN channel string")
    again = {"columns": f"{_COLUMNS}, channel string", "more": ("shop",)}
    append((0, 4.99, "Peru"), (2, 7.99, "Peru"), (_YEARS, 1000.0, "Peru"), **again)
    append((1, 0.99, "Mali"), (3, 0.99, None), **again)
    others = follow("totals")
    follow("windows")
    with pytest.raises(CheckpointError, match="has totals by country, found --by region"):
        follow("totals", by="region")
    (summary,) = run("lake-summary")
    run("lake-summary", "--by", "region")

    assert (first["in"], first["out"]) == (2, 2)
    counts = sum(
        (Counter(left_out=it["left_out"], future=it["future"]) for it in others), Counter()
    )
    assert counts == {"left_out": 1, "future": 1}
    name = f"lake.{database}.totals"
    properties = IcebergTable(spark, name).properties()
    assert properties["history.expire.max-snapshot-age-ms"] == "3600000"
    assert properties["write.metadata.delete-after-commit.enabled"] == "true"
    totals = spark.table(name).orderBy("country").collect()
    expected = [("Mali", "0.99", 1), ("Peru", "12.98", 2)]
    assert [(row.country, str(row.sales), row.orders) for row in totals] == expected
    file = (tmp_path / "spark_output/sales_by_country.csv").read_text()
    assert file.split() == ["country|sales|orders", "Peru|12.98|2", "Mali|0.99|1"]
    assert (summary["out"], summary["left_out"]) == (2, 1)
    file = (tmp_path / "spark_output/sales_by_region.csv").read_text()
    assert file.splitlines()[1:] == ["Latin America|12.98|2", "Unassigned|0.99|1"]
    rows = spark.table(f"lake.{database}.windows").orderBy("country", "window_start").collect()
    assert [(row.country, row.window_start.minute, str(row.sales), row.orders) for row in rows] == [
        ("Mali", 55, "0.99", 1), ("Mali", 0, "0.99", 1),
        ("Peru", 55, "12.98", 2), ("Peru", 0, "12.98", 2),
    ], "a payment that is sent again counts once, in a row for each window"  # fmt: skip
