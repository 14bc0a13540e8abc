"""The consuming job: the topic that it reads, and the tables that it writes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from kafka import KafkaProducer
from moto.s3.models import s3_backends

from localcloud.cloud import Cloud
from penstock.spark.state.lease import LEASE_PREFIX
from systems.clusters import Brokers
from systems.killing import ACCOUNT
from systems.readers import load_lake
from systems.tables import make_table
from systems.trials import Trials
from systems.world import World
from tests.faults.sent import Place, Topic

BATCH = 24  # the most records of a batch
_MOMENT = re.compile(rb'"(last-updated|timestamp)-ms"\s*:\s*(\d+)')


class Readings(World):
    """A topic, a lake and a table of readings."""

    def __init__(
        self, cloud: Cloud, client: Callable[..., Any], kafka: Brokers, rng: Random, folder: Path
    ) -> None:
        """Make all of it, but for the lake's table, which the job makes."""
        super().__init__(cloud, client, kafka, folder, "consume")
        name = f"{self.name}-readings"
        self._readings = make_table(self.database, name, "deviceId", "readingId")
        self._database = self.name.replace("-", "_")
        place = {"Name": self._database, "LocationUri": f"s3://{self.name}/tables/"}
        self.glue.create_database(DatabaseInput=place)
        servers = kafka.cluster.bootstrap_servers("PLAINTEXT")
        self._topic = Topic(
            self.create_topic(partitions=2), rng, self.glue, self.name,
            lambda: KafkaProducer(bootstrap_servers=servers),
        )  # fmt: skip
        self.arguments |= {
            "--topics": self._topic.name,
            "--max-offsets-per-trigger": str(BATCH),
            "--lake-table": f"{self._database}.readings",
            "--dynamodb-table": self._readings.name,
        }

    def send(self, count: int) -> None:
        """Write records, some of them of a version that was never seen before."""
        self._topic.evolve()
        self._topic.send(count)

    def check(self, trials: Trials) -> None:
        """Demand that each table holds what it must."""
        wanted = self._topic.expected()
        readings = [(_place(item["_source"]), item) for item in _scan(self._readings)]
        errors = [
            (_place(item["id"]), (item["reason"], bytes(item["value"])))
            for item in _scan(self.errors)
            if not item["id"].startswith(LEASE_PREFIX)
        ]
        trials.check(self._read_lake(), wanted["lake"])
        trials.check(readings, wanted["readings"])
        trials.check(errors, wanted["errors"])

    def snapshots(self) -> set[int]:
        """Return the ids of the snapshots of the lake's table."""
        return {each.snapshot_id for each in self._load_table().metadata.snapshots}

    def age(self, hours: int) -> None:
        """Make the lake's table and its files so many hours older."""
        key = self._load_table().metadata_location.removeprefix(f"s3://{self.name}/")
        metadata = self.bucket.Object(key)
        text = gzip.decompress(metadata.get()["Body"].read())
        metadata.put(Body=gzip.compress(_MOMENT.sub(lambda found: _move(found, hours), text)))
        for name, file in s3_backends[ACCOUNT]["aws"].buckets[self.name].keys.items():
            if name.startswith("tables/"):
                file.last_modified -= timedelta(hours=hours)

    def _load_table(self) -> Any:
        return load_lake(self.endpoint).load_table(f"{self._database}.readings")

    def _read_lake(self) -> list[tuple[Place, dict[str, Any]]]:
        rows = self._load_table().scan().to_arrow().to_pylist()
        kept = [
            {name: value for name, value in row.items() if not name.startswith("_before_")}
            for row in rows
        ]
        return [((row.pop("_kafka_partition"), row.pop("_offset")), row) for row in kept]

    def close(self) -> None:
        """Take away what other tests could see."""
        self._readings.delete()
        self.glue.delete_database(Name=self._database)
        super().close()


def _scan(table: Any) -> Iterator[dict[str, Any]]:
    pages = table.meta.client.get_paginator("scan").paginate(TableName=table.name)
    return (item for page in pages for item in page["Items"])


def _move(found: re.Match[bytes], hours: int) -> bytes:
    return b'"%s-ms":%d' % (found[1], int(found[2]) - hours * 3_600_000)


def _place(source: str) -> Place:
    _, partition, offset, *_ = source.split("/")
    return int(partition), int(offset)
