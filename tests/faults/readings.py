"""The consuming job: the topic that it reads, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from kafka import KafkaProducer

from localcloud.cloud import Cloud
from penstock.spark.state.lease import LEASE_PREFIX
from systems.clusters import Brokers
from systems.readers import load_lake
from systems.tables import make_table
from systems.trials import Trials
from systems.world import World
from tests.faults.sent import Place, Topic

BATCH = 24  # the most records of a batch


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

    def _read_lake(self) -> list[tuple[Place, dict[str, Any]]]:
        table = load_lake(self.endpoint).load_table(f"{self._database}.readings")
        rows = table.scan().to_arrow().to_pylist()
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


def _place(source: str) -> Place:
    _, partition, offset, *_ = source.split("/")
    return int(partition), int(offset)
