"""Results: a table on the console, a CSV file, and records in Kafka that readers can take once.

A record has a total as JSON, the SHA-1 of what it is a total of as key, and three headers:

| header | meaning |
| --- | --- |
| query | id of the streaming query, which its checkpoint keeps |
| batch | number of the micro-batch; a batch that is repeated after a crash has the same one |
| offsets | JSON list of topic, partition, offset: all sales before the offset are in the total |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.sales.generated import write_csv
from jobs.sales.records import POSITION
from jobs.sales.summaries import COUNTRY, REGION, WINDOW, format_totals, latest_rows, rank_totals
from penstock.kafka import KafkaSettings, java_options
from penstock.spark import BatchId, write_text

_RESULT: Final = "id string, country string, region string, sales string, orders bigint, "
_SCHEMA: Final = f"{_RESULT} start string, end string"


def print_table(totals: DataFrame, key: str, rows: int) -> None:
    """Print the first rows of totals as Spark's console does."""
    format_totals(rank_totals(totals, key), key).show(rows, truncate=False)


def write_file(totals: DataFrame, key: str, url: str) -> None:
    """Write all totals as one `|` CSV file with a header, in place of an earlier one."""
    shown = format_totals(rank_totals(totals, key), key)
    write_text(totals.sparkSession, url, write_csv(shown.columns, shown.collect()))


def make_records(totals: DataFrame, key: str, batch: BatchId) -> DataFrame:
    """Return totals of a batch as records for Spark's Kafka sink."""
    shown = format_totals(totals, key)
    parts = [name for name in (key, "start") if name in shown.columns]
    named = shown.select(F.sha1(F.concat_ws("|", *parts)).alias("id"), "*")
    return named.select(
        F.col("id").alias("key"), F.to_json(F.struct("*")).alias("value"), write_headers(batch)
    )


def write_headers(batch: BatchId, more: Iterable[tuple[str, bytes]] = ()) -> Column:
    """Return the headers of the results of a batch, after `more` headers."""
    texts = {"query": batch.query, "batch": str(batch.number), "offsets": batch.offsets}
    headers = [*more, *((name, text.encode()) for name, text in texts.items())]
    pairs = (
        F.struct(F.lit(name).alias("key"), F.lit(each).alias("value")) for name, each in headers
    )
    return F.array(*pairs).alias("headers")


def write_records(records: DataFrame, kafka: KafkaSettings, topic: str) -> None:
    """Write records to a topic; the write fails unless all in-sync replicas have them."""
    options = {f"kafka.{name}": value for name, value in java_options(kafka).items()}
    records.write.format("kafka").options(**options, topic=topic, includeHeaders="true").save()


def read_results(records: DataFrame) -> DataFrame:
    """Return the newest total of each key and window in records of results.

    The edges of the window are null if the totals are not in windows.
    """
    parsed = F.from_json(F.col("value").cast("string"), _SCHEMA).alias("result")
    rows = records.select(parsed, *POSITION).select("result.*", *POSITION).dropna(subset=["id"])
    sales = F.regexp_replace("sales", ",", "").cast("decimal(20, 2)")
    edges = F.struct(*(F.to_timestamp(edge).alias(edge) for edge in ("start", "end")))
    return latest_rows(rows, "id").select(
        COUNTRY, REGION, sales.alias("sales"), "orders", edges.alias(WINDOW)
    )


def read_history(records: DataFrame) -> DataFrame:
    """Return every result in records: `name`, `sales`, `start` of its window, and `read`.

    `read` is the number of offsets before which all sales are in the total.
    """
    result = F.from_json(F.col("value").cast("string"), _SCHEMA)
    ends = F.filter("headers", lambda header: header["key"] == "offsets")[0]["value"]
    offsets = F.from_json(ends.cast("string"), "array<array<string>>")
    read = F.aggregate(offsets, F.lit(0).cast("bigint"), lambda so_far, end: so_far + end[2])
    return records.select(result.alias("result"), read.alias("read")).select(
        F.coalesce("result.region", "result.country").alias("name"),
        F.regexp_replace("result.sales", ",", "").cast("double").alias("sales"),
        "result.start",
        "read",
    )
