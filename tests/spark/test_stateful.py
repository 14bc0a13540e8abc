"""Windows over decoded records: a new schema version neither stops them nor loses their state."""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import count

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

from penstock.attempts import Attempts
from penstock.errors import RegistryUnavailableError
from penstock.framing import encode_glue_frame
from penstock.registry import Registries
from penstock.spark.query.stateful import KnownVersions, StatefulQuery, ignore_future
from tests.spark.records import KAFKA, NOON, frame, make_record
from tests.stubs.registries import UNKNOWN, CountedRegistry, unavailable

_V1 = make_record(("amount", "int"), ("country", "string"), name="Sale")
_V2 = make_record(
    ("amount", "long"), ("shop", ["null", "string"]), ("country", "string"), name="Sale"
)
_COLUMNS = {"amount": "DECIMAL(10,2)", "country": "STRING", "shop": "STRING"}


class Sales:
    """A topic whose micro-batches are files, and its windows of ten minutes."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.registry = CountedRegistry()
        self.written = []  # the rows of each batch
        self.offsets = count()

    def send(self, *values, minute=0):
        """Put values into a micro-batch of their own."""
        time = NOON + timedelta(minutes=minute)
        rows = [(b"k", value, "sales", 0, next(self.offsets), time, None) for value in values]
        records = self.spark.createDataFrame(rows, KAFKA).coalesce(1)
        records.write.mode("append").parquet(f"{self.folder}/topic")

    def query(self, **changes):
        stream = self.spark.readStream.schema(KAFKA).option("maxFilesPerTrigger", 1)
        given = {
            "stream": stream.parquet(f"{self.folder}/topic"),
            "registries": Registries([self.registry]),
            "columns": _COLUMNS,
            "start": self._start,
        }
        return StatefulQuery(**given | changes)

    def _start(self, rows):
        time = "_kafka_timestamp"
        sales = ignore_future(rows, time, "5 minutes").withWatermark(time, "10 minutes")
        totals = sales.groupBy("country", F.window(time, "10 minutes")).agg(
            F.sum("amount").cast("int").alias("sales"), F.max("shop").alias("shop")
        )
        writer = totals.select("country", F.minute("window.start"), "sales", "shop").writeStream
        return (
            writer.outputMode("update")
            .foreachBatch(lambda rows, _: self.written.append(sorted(map(tuple, rows.collect()))))
            .option("checkpointLocation", f"file://{self.folder}/checkpoint")
            .trigger(availableNow=True)
            .start()
        )


@pytest.fixture
def sales(spark, tmp_path):
    return Sales(spark, tmp_path)


def test_a_schema_that_gains_a_column_keeps_the_windows(sales, caplog):
    v1 = sales.registry.register("sales", _V1).version
    first = frame(v1, {"amount": 1, "country": "Peru"})
    sales.send(first, frame(v1, {"amount": 2, "country": "Chile"}))
    v2 = sales.registry.register("sales", _V2).version
    second = frame(v2, {"amount": 40, "country": "Peru", "shop": "Lima"}, compress=True)
    sales.send(second, first, b"?", encode_glue_frame(UNKNOWN, b"x"), None)

    with caplog.at_level(logging.WARNING):
        query = sales.query().run(KnownVersions((v1,)))

    assert sales.written == [
        [("Chile", 0, 2, None), ("Peru", 0, 1, None)],
        [("Peru", 0, 42, "Lima")],
    ], "the state of the first batch is counted, and no batch is written twice"
    assert sales.registry.calls.count("get") == 2, "each unknown id is asked for once"
    assert [each["batchId"] for each in query.recentProgress if each["numInputRows"]] == [1]
    metrics = query.recentProgress[0]["observedMetrics"]
    assert metrics["records"].asDict() == {"decoded": 2, "tombstones": 1, "left_out": 2}


def test_a_registry_that_is_down_is_asked_again(sales):
    v1 = sales.registry.register("sales", _V1).version
    sales.send(frame(v1, {"amount": 1, "country": "Peru"}))
    sales.send(frame(v1, {"amount": 1, "country": "Peru"}), minute=10**7)
    sales.registry.down = unavailable

    with pytest.raises(RegistryUnavailableError):
        sales.query(attempts=Attempts(0, 0, 0)).run()

    def recover(_):
        sales.registry.down = None

    query = sales.query(attempts=Attempts(1, 1, 60, sleep=recover)).run()

    assert sales.written == [[("Peru", 0, 1, None)], []]
    future = [each["observedMetrics"]["clock"].future for each in query.recentProgress]
    assert sum(future) == 1, "a record of the far future closes no window"


def test_another_failure_ends_the_query(sales):
    sales.send(b"?")

    def fail(_, __):
        raise OSError("the disk is full")

    def start(rows):
        writer = rows.writeStream.foreachBatch(fail)
        return writer.option("checkpointLocation", f"file://{sales.folder}/checkpoint").start()

    with pytest.raises(StreamingQueryException, match="the disk is full"):
        sales.query(start=start).run()
