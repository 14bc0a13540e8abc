"""Jobs on localcloud, batch by batch: how long each batch takes, and which calls it makes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from kafka import KafkaProducer
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bench.spark.records import make_frames, make_versions
from bench.spark.ways import QuickRegistry
from bench.spark.world import World
from penstock.kafka import Topic, ensure_topic
from penstock.registry import Registries, RegistrySettings
from penstock.spark import ConsumeSettings, start_consuming
from penstock.spark.lake.iceberg import LAKE_CATALOG, catalog_settings
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.base import KindSettings
from penstock.spark.sinks.dynamodb import DynamoDbSettings
from penstock.spark.sinks.iceberg import LakeSettings
from penstock.spark.sinks.settings import SinkSettings
from penstock.spark.state.lease import LEASE_PREFIX
from systems.accounts import running_aws
from systems.tables import make_table

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_NAME = "bench"
_KEYS = {"AWS_ACCESS_KEY_ID": _ACCOUNT, "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": _REGION}
_POLL_SECONDS = 0.02
_RELEASE_SECONDS = 20
_BATCH_SECONDS = 120  # of the first batch on a machine with much else to do
# No heartbeat falls into a batch.
_LEASE = LeaseSettings(lease_seconds=3_600, heartbeat_seconds=1_800)
_ROWS = DynamoDbSettings("readings")
SINKS: dict[str, dict[str, KindSettings]] = {
    "lake": {"iceberg": LakeSettings(f"{_NAME}.readings")},
    "dynamodb": {"dynamodb": _ROWS},
    "both": {"iceberg": LakeSettings(f"{_NAME}.both"), "dynamodb": _ROWS},
}


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch: its seconds, those in which some call was being answered, and its calls."""

    seconds: float
    answering: float
    calls: Counter[str]


class LocalAws:
    """A localcloud in a process of its own, with what the jobs need of an account."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self.endpoint = endpoint
        self._log = folder / "calls.jsonl"
        self._read = 0
        self._calls: list[tuple[datetime, float, str]] = []
        place = {"LocationConstraint": _REGION}
        self._client("s3").create_bucket(Bucket=_NAME, CreateBucketConfiguration=place)
        database = {"Name": _NAME, "LocationUri": f"s3://{_NAME}/tables/"}
        self._client("glue").create_database(DatabaseInput=database)
        make_table(self._client("dynamodb"), "readings", "deviceId", "readingId")
        make_table(self._client("dynamodb"), "errors", "id")

    def calls(self, start: datetime, end: datetime) -> tuple[Counter[str], float]:
        """Return the calls that ended in this time, and the seconds in which there were some."""
        with self._log.open() as file:
            file.seek(self._read)
            for line in map(json.loads, file.readlines()):
                name = f"{line['service']} {line['operation']}"
                self._calls.append((datetime.fromisoformat(line["time"]), line["ms"] / 1e3, name))
            self._read = file.tell()
        own = [each for each in self._calls if start <= each[0] <= end]
        seconds, until = 0.0, start
        for ended, took, _ in own:
            began = max(until, ended - timedelta(seconds=took))
            until = max(until, ended)
            seconds += max(0.0, (ended - began).total_seconds())
        return Counter(name for *_, name in own), seconds

    def is_leased(self, checkpoint: str) -> bool:
        """Return whether a job holds the lease of a checkpoint."""
        key = {"id": {"S": f"{LEASE_PREFIX}s3://{_NAME}/{checkpoint}"}}
        found = self._client("dynamodb").get_item(TableName="errors", Key=key)
        return "holder" in found.get("Item", {})

    def _client(self, service: str) -> Any:
        session: Any = boto3.Session(_ACCOUNT, "any", region_name=_REGION)
        return session.client(service, endpoint_url=self.endpoint)


@contextmanager
def using_aws(world: World) -> Iterator[LocalAws]:
    """Run a localcloud, and let Spark, its workers and this process use it."""
    folder = world.new_folder() / "aws"
    with ExitStack() as stack:
        aws = LocalAws(folder, stack.enter_context(running_aws(folder)))
        environ = {**_KEYS, "AWS_ENDPOINT_URL": aws.endpoint}
        stack.enter_context(patch.dict(os.environ, environ))
        stack.enter_context(patch.dict(world.spark.sparkContext.environment, environ))
        yield aws


class LatencyJob:
    """A job with a topic of its own, which runs until it is stopped."""

    def __init__(self, world: World, aws: LocalAws, sinks: str) -> None:
        self._aws, self._done = aws, 0
        self._topic = f"latency-{sinks}-{world.new_folder().name}"
        ensure_topic(world.kafka(), Topic(self._topic, 1, 1))
        self._producer = KafkaProducer(bootstrap_servers=world.servers)
        self._frames = make_frames(make_versions(5))
        registry: Any = QuickRegistry(make_versions(5))
        settings = ConsumeSettings(
            kafka=world.kafka(),
            read=ReadSettings(topics=(self._topic,)),
            sinks=SinkSettings("errors", _NAME, SINKS[sinks]),
            lease=_LEASE,
            schemas=RegistrySettings("memory://"),
            checkpoint=f"s3://{_NAME}/{self._topic}",
            trigger="0 seconds",
        )
        session = _open_session(world.spark, aws.endpoint)
        with redirect_stdout(sys.stderr):  # the lines of the batches
            self.query: StreamingQuery = start_consuming(
                session, settings, registries=Registries([registry])
            )

    def take(self, records: int) -> Batch:
        """Send records, and wait for the one batch that has them."""
        for at in range(records):
            self._producer.send(self._topic, self._frames[at % len(self._frames)])
        self._producer.flush()
        deadline = time.monotonic() + _BATCH_SECONDS
        found: list[Any] = []
        while sum(each["numInputRows"] for each in found) < records:
            time.sleep(_POLL_SECONDS)
            progress = [each for each in self.query.recentProgress if each["numInputRows"]]
            found = progress[self._done :]
            assert self.query.isActive, self.query.exception()
            assert time.monotonic() < deadline, "the batch takes too long"
        self._done += len(found)
        seconds, answering, calls = 0.0, 0.0, Counter[str]()
        for each in found:
            took = timedelta(milliseconds=each["durationMs"]["triggerExecution"])
            began = datetime.fromisoformat(each["timestamp"])
            own, waited = self._aws.calls(began, began + took)
            seconds, answering, calls = (
                seconds + took.total_seconds(),
                answering + waited,
                calls + own,
            )
        return Batch(seconds, answering, calls)

    def stop(self) -> None:
        """End the job, and wait until it has released its lease."""
        self.query.stop()
        self._producer.close()
        deadline = time.monotonic() + _RELEASE_SECONDS
        while self._aws.is_leased(self._topic) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


@contextmanager
def running_job(world: World, aws: LocalAws, sinks: str) -> Iterator[LatencyJob]:
    """Run a job that writes to the lake, DynamoDB or both."""
    job = LatencyJob(world, aws, sinks)
    try:
        yield job
    finally:
        job.stop()


def _open_session(spark: SparkSession, endpoint: str) -> SparkSession:
    """Return a session whose lake and checkpoint are in localcloud."""
    jvm: Any = spark._jvm
    for name, text in {"accessKeyId": _ACCOUNT, "secretAccessKey": "any"}.items():
        jvm.java.lang.System.setProperty(f"aws.{name}", text)
    jsc: Any = spark.sparkContext._jsc
    hadoop = jsc.hadoopConfiguration()
    s3a = {
        "endpoint": endpoint,
        "endpoint.region": _REGION,
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": _ACCOUNT,
        "secret.key": "any",
    }
    hadoop.set("fs.s3.impl.disable.cache", "true")  # each localcloud has another port
    hadoop.set("fs.s3.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem")
    hadoop.set("fs.AbstractFileSystem.s3.impl", "org.apache.hadoop.fs.s3a.S3A")
    for name, text in s3a.items():
        hadoop.set(f"fs.s3a.{name}", text)
    lake = f"spark.sql.catalog.{LAKE_CATALOG}"
    session = spark.newSession()
    session.conf.unset(f"{lake}.warehouse")
    for name, text in {
        **catalog_settings(),
        f"{lake}.client.region": _REGION,
        f"{lake}.glue.endpoint": endpoint,
        f"{lake}.s3.endpoint": endpoint,
        f"{lake}.s3.path-style-access": "true",
    }.items():
        session.conf.set(name, text)
    return session
