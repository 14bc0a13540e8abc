"""What outlives a job: the topic that it reads, the tables that it writes, its checkpoint."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import boto3
import pytest
from kafka import KafkaProducer
from pyiceberg.catalog import load_catalog

from localcloud.cloud import Cloud
from localcloud.door.operations import Call, HttpAnswer
from localcloud.network.names import write_hosts
from penstock.spark.state.lease import LEASE_PREFIX
from tests.faults.killing import ACCOUNT, REGION, JobProcess, Trap
from tests.faults.sent import Place, Topic
from tests.fixtures.brokers import ANONYMOUS, Brokers, running_brokers

BATCH = 24  # the most records of a batch
_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_USER, _PASSWORD = "analytics", "secret"


@contextmanager
def running_broker(folder: Path) -> Iterator[Brokers]:
    """Run one broker that knows the job's user."""
    with running_brokers(folder, broker_count=1) as running:
        running.cluster.set_user(_USER, _PASSWORD)
        yield running


class World:
    """A topic, a lake, a table of readings and one of errors, none of which knows another job."""

    def __init__(
        self, cloud: Cloud, client: Callable[..., Any], kafka: Brokers, rng: Random, folder: Path
    ) -> None:
        """Make all of it, but for the lake's table, which the job makes."""
        self._endpoint, self._folder = cloud.endpoint, folder
        self._name = f"killed-{secrets.token_hex(4)}"
        self._glue, self._secrets = client("glue"), client("secretsmanager")
        session = boto3.Session(ACCOUNT, "any", region_name=REGION)
        self._bucket = session.resource("s3", endpoint_url=cloud.endpoint).create_bucket(
            Bucket=self._name, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
        self._readings = _create_table(database, f"{self._name}-readings", "deviceId", "readingId")
        self._errors = _create_table(database, f"{self._name}-errors", "id")
        self._database = self._name.replace("-", "_")
        place = {"Name": self._database, "LocationUri": f"s3://{self._name}/tables/"}
        self._glue.create_database(DatabaseInput=place)
        self._glue.create_registry(RegistryName=self._name)
        self._topic = self._create_topic(kafka, rng)
        self._arguments = self._write_arguments(kafka)
        self._hosts = folder / "hosts"
        write_hosts(self._hosts, kafka.cluster.names)
        self._trap = Trap()
        self._runs = 0

    def _create_topic(self, kafka: Brokers, rng: Random) -> Topic:
        name = kafka.create_topic(partitions=2)
        kafka.allow(_USER, name, "READ")
        kafka.allow(ANONYMOUS, name, "WRITE")
        servers = kafka.cluster.bootstrap_servers("PLAINTEXT")
        return Topic(
            name, rng, self._glue, self._name, lambda: KafkaProducer(bootstrap_servers=servers)
        )

    def _write_arguments(self, kafka: Brokers) -> dict[str, str]:
        login = {"username": _USER, "password": _PASSWORD}
        self._secret = self._secrets.create_secret(
            Name=f"AmazonMSK_{self._name}", SecretString=json.dumps(login)
        )["ARN"]
        return {
            "--bootstrap-servers": kafka.cluster.bootstrap_servers("SCRAM"),
            "--security": "scram",
            "--secret-arn": self._secret,
            "--ca-file": str(kafka.cluster.ca_file),
            "--topics": self._topic.name,
            "--registry": f"glue://{self._name}?region={REGION}",
            "--checkpoint": f"s3://{self._name}/checkpoint",
            "--trigger": "available-now",
            "--max-offsets-per-trigger": str(BATCH),
            "--lake-table": f"{self._database}.readings",
            "--dynamodb-table": self._readings.name,
            "--errors-table": self._errors.name,
            "--parked-bucket": self._name,
            "--lease-seconds": "5",
            "--heartbeat-seconds": "1",
        }

    def send(self, count: int) -> None:
        """Write records, some of them of a version that was never seen before."""
        self._topic.evolve()
        self._topic.send(count)

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
        """Stand between localcloud and the job that runs."""
        return self._trap.around(call, perform)

    def start(self, trap: Trap) -> JobProcess:
        """Start the job, whose calls go through a trap from now on, and those of others too."""
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        job = JobProcess(self._arguments, self._endpoint, self._hosts, folder)
        trap.kill, self._trap = job.stop if trap.stops else job.kill, trap
        return job

    def watch(self) -> Trap:
        """Begin to take down what is called."""
        self._trap = Trap()
        return self._trap

    def run(self, trap: Trap) -> int:
        """Start the job, wait for its end, by itself or by the trap, and give its exit code."""
        job = self.start(trap)
        try:
            code = job.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"run {self._runs} did not end: {trap.calls[-5:]}\n{job.tell()}")
        finally:
            self._trap = Trap()
        print(f"run {self._runs}: {code}, call {len(trap.calls)} was {trap.calls[-1:]}")
        assert code == 0 or (code == -9 and trap.snapped), (code, job.tell())
        return code

    def compare(self) -> dict[str, Any]:
        """Say what is wrong in each table; nothing, where nothing is."""
        found = {
            "lake": self._read_lake(),
            "readings": [(_place(item["_source"]), item) for item in _scan(self._readings)],
            "errors": [
                (_place(item["id"]), (item["reason"], bytes(item["value"])))
                for item in _scan(self._errors)
                if not item["id"].startswith(LEASE_PREFIX)
            ],
        }
        wanted = self._topic.expected()
        wrong = {name: _differ(found[name], wanted[name]) for name in wanted}
        return {name: differences for name, differences in wrong.items() if differences}

    def _read_lake(self) -> list[tuple[Place, dict[str, Any]]]:
        keys = {"access-key-id": ACCOUNT, "secret-access-key": "any", "region": REGION}
        both = keys | {"endpoint": self._endpoint}
        settings = {f"{at}.{name}": text for at in ("glue", "s3") for name, text in both.items()}
        catalog = load_catalog("lake", type="glue", **settings)
        rows = catalog.load_table(f"{self._database}.readings").scan().to_arrow().to_pylist()
        kept = [
            {name: value for name, value in row.items() if not name.startswith("_before_")}
            for row in rows
        ]
        return [((row.pop("_kafka_partition"), row.pop("_offset")), row) for row in kept]

    def close(self) -> None:
        """Take away what other tests could see."""
        self._readings.delete()
        self._errors.delete()
        self._glue.delete_database(Name=self._database)
        self._glue.delete_registry(RegistryId={"RegistryName": self._name})
        self._secrets.delete_secret(SecretId=self._secret, ForceDeleteWithoutRecovery=True)
        self._bucket.objects.delete()
        self._bucket.delete()


def _create_table(database: Any, name: str, *key: str) -> Any:
    kinds = zip(key, ("HASH", "RANGE"), strict=False)
    return database.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": each, "KeyType": kind} for each, kind in kinds],
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in key],
    )


def _scan(table: Any) -> Iterator[dict[str, Any]]:
    pages = table.meta.client.get_paginator("scan").paginate(TableName=table.name)
    return (item for page in pages for item in page["Items"])


def _place(source: str) -> Place:
    _, partition, offset, *_ = source.split("/")
    return int(partition), int(offset)


def _differ(found: list[tuple[Place, Any]], wanted: dict[Place, Any]) -> dict[str, Any]:
    times, by_place = Counter(place for place, _ in found), dict(found)
    both = sorted(by_place.keys() & wanted.keys())
    kinds: dict[str, list[Any]] = {
        "lost": sorted(wanted.keys() - by_place.keys()),
        "twice": sorted(place for place, count in times.items() if count > 1),
        "never sent": sorted(by_place.keys() - wanted.keys()),
        "other": [
            (place, by_place[place], wanted[place])
            for place in both
            if by_place[place] != wanted[place]
        ][:3],
    }
    return {kind: places for kind, places in kinds.items() if places}
