"""The query of `jobs/cdc.py` without AWS: in this process, or in one of its own that is killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.extensions.cdc.spark import CdcSettings, open_query
from penstock.kafka import KafkaSettings, Security
from penstock.registry import RegistrySettings
from penstock.sinks import DeadLetterSettings
from penstock.spark.failures import LoggedErrors
from penstock.spark.session import keep_lookups
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings


def make_settings(servers, registry, checkpoint, most=400, topics=r"films\.public\..*", **outputs):
    """Settings of the job for the topics of the films, of which a batch has so many records."""
    return CdcSettings(
        kafka=KafkaSettings(bootstrap_servers=servers, security=Security.PLAINTEXT),
        read=ReadSettings(topic_pattern=topics, max_offsets_per_trigger=most),
        schemas=RegistrySettings(registry),
        lease=LeaseSettings(),
        checkpoint=f"file://{checkpoint}",
        dead_letters=DeadLetterSettings("none", "none"),
        **outputs,
    )


def start(spark, settings, **trigger):
    """Start the query, which holds no lease."""
    return open_query(spark, settings, LoggedErrors()).start(**trigger)


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    session = SparkSession.builder.config(map=given["spark"]).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    keep_lookups(session)
    arguments = given["settings"]
    start(session, make_settings(**arguments), processingTime="0 seconds").awaitTermination()
