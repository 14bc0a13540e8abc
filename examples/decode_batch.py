"""Decode the current records of a topic, in a batch or a notebook.

    spark-submit --py-files penstock-pyfiles.zip --jars ... examples/decode_batch.py \\
        b-1.example:9096 sensor 'glue://penstock?region=eu-central-1'

It prints the number of records by status, and the decoded events.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from penstock.registry import Registries, load_registries
from penstock.spark import build_session, decode


def read_topic(
    spark: SparkSession, options: Mapping[str, str], registries: Registries
) -> DataFrame:
    """Return the records of a topic, each a row with its `event` and its `_status`."""
    records = spark.read.format("kafka").options(**options).load()
    return decode(records, registries)


def main(argv: Sequence[str]) -> None:
    """Count the records of a topic by their status."""
    servers, topic, urls = argv
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic}
    found = read_topic(build_session("decode-batch"), options, load_registries(urls))
    found.groupBy("_status").count().show()
    found.filter("_status = 'decoded'").select("event.*").show()


if __name__ == "__main__":
    main(sys.argv[1:])
