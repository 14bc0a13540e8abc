"""Decode what a topic has now, in a batch or a notebook.

    spark-submit --py-files penstock-pyfiles.zip --jars ... examples/decode_batch.py \\
        b-1.example:9096 sensor 'glue://penstock?region=eu-central-1'

Prints how many records could be decoded, and why the others could not.
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
    """Read a topic to its end; each record is a row with its `event` and its `_status`."""
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
