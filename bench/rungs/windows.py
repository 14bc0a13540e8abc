"""The rung of windows and joins (R14): the sales summary as a stream, against the same by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from bench.ladder import Form, Result, least, race, ratio, speeds
from bench.spark.ways import QuickRegistry
from bench.spark.world import BY_HAND, World, world_for
from jobs.sales.summaries import REGION, join_regions, total_in_windows
from penstock.framing import FrameKind, SchemaKey, encode_frame
from penstock.registry import Registries, SchemaVersion, VersionStatus
from penstock.schemas import encode
from penstock.spark import KnownVersions, select_columns
from penstock.spark.query.source import FETCH_OPTIONS, SOURCE

_FIELDS = {"payment_id": "int", "amount": "float", "country": "string"}
_SCHEMA: Final = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": name, "type": type_} for name, type_ in _FIELDS.items()],
}
_VERSION: Final = SchemaVersion(
    SchemaKey.parse("apicurio:17"), "sales", 1, VersionStatus.AVAILABLE, _SCHEMA, None
)
_COLUMNS: Final = {"payment_id": "INT", "amount": "DECIMAL(10,2)", "country": "STRING"}
_HEADER = 9  # of Apicurio's frame
_REGIONS = 8
_COUNTRIES = 1_000
_SHARE = 4  # of the records
_TIME = "timestamp"
_Totals = Callable[[DataFrame], DataFrame]


def _make_frames(countries: int) -> list[bytes]:
    """Return a frame for each country."""
    return [
        encode_frame(
            _VERSION.key,
            encode(
                {"payment_id": at, "amount": 0.99 + at % 10, "country": f"country-{at}"}, _SCHEMA
            ),
        )
        for at in range(countries)
    ]


def _sales(world: World, countries: int) -> str:
    """Return a topic of sales of so many countries."""
    return world.topic(f"sales-{countries}", _make_frames(countries), world.records // _SHARE)


def _run(world: World, topic: str, totals: _Totals, source: str = SOURCE) -> dict[str, Any]:
    """Run a new query to the end of a topic, and return the progress of its one batch."""
    stream = (
        world.spark.readStream.format(source)
        .options(
            **{"kafka.bootstrap.servers": world.servers, "startingOffsets": "earliest"},
            **FETCH_OPTIONS,
            subscribe=topic,
        )
        .load()
    )
    query = (
        totals(stream)
        .writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", f"file://{world.new_folder()}")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    (batch,) = [each for each in query.recentProgress if each["numInputRows"]]
    if batch["numInputRows"] != world.records // _SHARE:
        raise AssertionError(f"read {batch['numInputRows']}, expected {world.records // _SHARE}")
    found: dict[str, Any] = batch
    return found


def _by_product(key: str, regions: DataFrame, records: DataFrame) -> DataFrame:
    """Sum up sales as the enrichment stream does."""
    registry: Any = QuickRegistry((_VERSION,), FrameKind.APICURIO)
    rows = select_columns(records, Registries([registry]), _COLUMNS, KnownVersions((_VERSION,)))
    sales = rows.withColumnRenamed("_kafka_timestamp", _TIME).withWatermark(_TIME, "10 minutes")
    return total_in_windows(join_regions(sales, regions), key)


def _by_hand(key: str, regions: DataFrame, records: DataFrame) -> DataFrame:
    """Sum up sales as one writes it for one schema."""
    sale = from_avro(F.expr(f"substring(value, {_HEADER + 1})"), json.dumps(_SCHEMA))
    return (
        records.select(sale.alias("sale"), _TIME)
        .select("sale.country", F.col("sale.amount").cast("decimal(10,2)").alias("amount"), _TIME)
        .withWatermark(_TIME, "10 minutes")
        .join(F.broadcast(regions), "country", "left")
        .fillna({REGION: "Unassigned"})
        .groupBy(key, F.window(_TIME, "10 minutes", "5 minutes"))
        .agg(F.sum("amount").alias("sales"), F.count("amount").alias("orders"))
    )


def _make_regions(world: World, countries: int) -> DataFrame:
    names = [(f"country-{at}", f"region-{at % _REGIONS}") for at in range(countries)]
    return world.spark.createDataFrame(names, "country string, region string").cache()


def _windows(form: Form) -> Result:
    world = world_for(form)
    topic = _sales(world, _COUNTRIES)
    regions = _make_regions(world, _COUNTRIES)

    def time_batch(way: Callable[[str, DataFrame, DataFrame], DataFrame], source: str) -> float:
        batch = _run(world, topic, partial(way, REGION, regions), source)
        return float(batch["durationMs"]["addBatch"]) / 1e3

    ways = {
        "product": lambda: time_batch(_by_product, SOURCE),
        "by_hand": lambda: time_batch(_by_hand, BY_HAND),
    }
    turns = race(ways, form.turns)
    regions.unpersist()
    parts = speeds(turns, world.records // _SHARE)
    return Result(ratio(turns, "product", "by_hand"), "times", parts)


WINDOWS = (
    least(
        "windows",
        "How fast are sales totalled in windows, against the same query by hand for one schema?",
        0.95,
        _windows,
    ),
)
