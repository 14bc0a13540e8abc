"""Follow a topic into a sink of your own; new schema versions need no restart.

    spark-submit --py-files penstock-pyfiles.zip --jars ... examples/follow_topic.py \\
        b-1.example:9096 sensor 'glue://penstock?region=eu-central-1' s3://BUCKET/follow

The sink is a folder of JSON for each part of a batch; a part that is repeated overwrites it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.registry import Registries, load_registries
from penstock.spark import BatchId, build_session, follow


def follow_topic(
    spark: SparkSession, options: Mapping[str, str], registries: Registries, folder: str
) -> StreamingQuery:
    """Start a query that writes the current records of a topic below a folder, then ends."""
    stream = spark.readStream.format("kafka").options(**options).load()

    def write(rows: DataFrame, batch: BatchId, part: int) -> None:
        place = f"{folder}/rows/batch={batch.number}/part={part}"
        rows.select("event.*", "_offset").write.mode("overwrite").json(place)

    return follow(stream, registries, f"{folder}/checkpoint", write, availableNow=True)


def main(argv: Sequence[str]) -> None:
    """Follow the topic to its end."""
    servers, topic, urls, folder = argv
    options = {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
    }
    spark = build_session("follow-topic")
    query = follow_topic(spark, options, load_registries(urls), folder)
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1:])
