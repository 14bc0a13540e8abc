"""Read records from Kafka, as a stream or as ranges of offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from penstock.attempts import Attempts
from penstock.kafka import (
    TWO_MINUTES,
    KafkaSettings,
    await_brokers,
    java_options,
    open_consumer,
)
from penstock.spark.decoding.jar import load_jar
from penstock.spark.settings.consume import LostOffsets, ReadSettings, StartingOffsets
from penstock.spark.state.losses import OffsetRange

# Spark's source, which plans each batch, with readers in Java that make columns of the records
# (docs/adr/0073-read-kafka-into-columns.md).
SOURCE: Final = "penstock.spark.source.KafkaColumns"
# A batch of columns has the records of a poll. Where a poll has none, Spark asks the broker for the
# first and the last offset. The answer comes after the next fetch, which at the end of a partition
# waits half a second by default (docs/adr/0020-few-round-trips.md).
FETCH_OPTIONS: Final = {"kafka.max.poll.records": "5000", "kafka.fetch.max.wait.ms": "10"}


def open_stream(
    spark: SparkSession, kafka: KafkaSettings, read: ReadSettings, *, may_stop: bool = True
) -> DataFrame:
    """Open the stream of topics; nothing is read yet.

    Args:
        spark: the session.
        kafka: the brokers.
        read: the topics.
        may_stop: whether Spark stops a query that lost records, as the settings say. The jobs of
            Penstock do that themselves, and name what is lost.

    Raises:
        SettingsError: it is to begin at the offset of a partition that does not exist.
        BrokerError: no broker can be asked for the partitions.
    """
    if isinstance(read.starting, StartingOffsets):
        starting = read.starting.complete(find_partitions(kafka, read))
        read = replace(read, starting=starting)
    options = source_options(kafka, read)
    if may_stop and read.on_lost_offsets is LostOffsets.STOP:
        options["failOnDataLoss"] = "true"
    load_jar(spark)
    return spark.readStream.format(SOURCE).options(**options).load()


def read_topics(spark: SparkSession, kafka: KafkaSettings, read: ReadSettings) -> DataFrame:
    """Return the records that topics hold now."""
    return _load(spark, source_options(kafka, read))


def find_partitions(
    kafka: KafkaSettings, read: ReadSettings, attempts: Attempts = TWO_MINUTES
) -> dict[str, set[int]]:
    """Return the partitions of the topics to read, as far as they exist.

    It waits for brokers that are down: EMR starts a job that ends again five times an hour only.

    Raises:
        BrokerError: no broker can be used; the subclass says why.
    """

    def is_read(topic: str) -> bool:
        return topic in read.topics or (
            read.topic_pattern != "" and re.fullmatch(read.topic_pattern, topic) is not None
        )

    def find() -> dict[str, set[int]]:
        with closing(open_consumer(kafka)) as consumer:
            return consumer.find_partitions(is_read)

    return await_brokers(find, attempts)


def read_ranges(
    records: DataFrame, kafka: KafkaSettings, read: ReadSettings, ranges: Iterable[OffsetRange]
) -> DataFrame:
    """Return the records of these ranges, in place of a batch whose topics are partly gone."""
    starts: dict[str, dict[int, int]] = {}
    ends: dict[str, dict[int, int]] = {}
    for each in ranges:
        starts.setdefault(each.topic, {})[each.partition] = each.start
        ends.setdefault(each.topic, {})[each.partition] = each.end
    if not ends:
        return records.filter("FALSE")
    options = {
        **_common_options(kafka, read),
        "assign": json.dumps({topic: [*partitions] for topic, partitions in ends.items()}),
        "startingOffsets": json.dumps(starts),
        "endingOffsets": json.dumps(ends),
    }
    return _load(records.sparkSession, options)


def _load(spark: SparkSession, options: dict[str, str]) -> DataFrame:
    load_jar(spark)
    return spark.read.format(SOURCE).options(**options).load()


def source_options(kafka: KafkaSettings, read: ReadSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka source; they may hold a password."""
    topics = (
        {"subscribePattern": read.topic_pattern}
        if read.topic_pattern
        else {"subscribe": ",".join(read.topics)}
    )
    limit = read.max_offsets_per_trigger
    return {
        **_common_options(kafka, read),
        **topics,
        **_starting(read.starting),
        **({"maxOffsetsPerTrigger": str(limit)} if limit else {}),
        # By default its three tries end at once; a broker that just started knows no topics yet.
        "fetchOffset.retryIntervalMs": "5000",
    }


def _common_options(kafka: KafkaSettings, read: ReadSettings) -> dict[str, str]:
    return {
        **{f"kafka.{name}": value for name, value in java_options(kafka).items()},
        "groupIdPrefix": f"{read.group_prefix}spark",
        # Records of aborted transactions are not data.
        "kafka.isolation.level": "read_committed",
        **FETCH_OPTIONS,
        # A header may hold the schema id, and dead letters keep all headers.
        "includeHeaders": "true",
        # Spark would stop without naming what is lost; the batch names it (state/losses.py).
        "failOnDataLoss": "false",
    }


def _starting(starting: str | StartingOffsets | datetime) -> dict[str, str]:
    if not isinstance(starting, datetime):
        return {"startingOffsets": str(starting)}
    return {
        "startingTimestamp": str(int(starting.timestamp() * 1000)),
        # Partitions without a record since then start with their next one.
        "startingOffsetsByTimestampStrategy": "latest",
    }
