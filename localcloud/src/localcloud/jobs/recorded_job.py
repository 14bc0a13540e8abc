"""The job whose classes are archived: Parquet and Iceberg on S3, a stream, Avro, Python, Kafka."""

from __future__ import annotations

import sys
from contextlib import suppress

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.avro.functions import from_avro, to_avro

_SCHEMA = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}'
_NOWHERE = {
    "kafka.bootstrap.servers": "127.0.0.1:9",
    "kafka.default.api.timeout.ms": "1000",
    "kafka.request.timeout.ms": "1000",
    "subscribe": "none",
}


def _write_rows(rows: DataFrame, _: int) -> None:
    rows.persist()
    rows.groupBy("r.a").count().collect()
    rows.writeTo("lake.recorded.t").append()
    rows.unpersist()


def main(place: str) -> None:
    """Use a little of everything under a prefix on S3."""
    spark = SparkSession.builder.getOrCreate()
    spark.sql(f"CREATE NAMESPACE lake.recorded LOCATION '{place}/lake'")
    numbers = spark.createDataFrame([(number,) for number in range(9)], "a bigint")
    values = numbers.selectExpr("struct(a) AS r").select(to_avro("r", _SCHEMA).alias("value"))
    values.write.parquet(f"{place}/in")
    stream = spark.readStream.schema("value binary").parquet(f"{place}/in")
    rows = stream.select(from_avro("value", _SCHEMA, {"mode": "PERMISSIVE"}).alias("r"))
    spark.sql("CREATE TABLE lake.recorded.t (r struct<a: bigint>) USING iceberg")
    starting = rows.writeStream.foreachBatch(_write_rows).trigger(availableNow=True)
    starting.option("checkpointLocation", f"{place}/checkpoint").start().awaitTermination()
    table = spark.table("lake.recorded.t")
    table.orderBy("r.a").rdd.map(lambda row: row).collect()
    with suppress(PySparkException, Py4JJavaError):  # no broker answers there
        spark.read.format("kafka").options(**_NOWHERE).load().collect()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
