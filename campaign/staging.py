"""The staging job: five topics that become tables, which are joined, and the sender of their rows.

Some rows come long after the shipment that needs them, and some never. Rows that shipments need are
never deleted, since a join may take them at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from kafka import KafkaProducer
from kafka.errors import KafkaError

from campaign.history import Row, Staged
from campaign.readers import read_records, read_versions
from campaign.workers import Worker
from demo.staging.publisher import DRIVER, SCHEMAS, Change, Publisher
from localcloud.cloud import Cloud
from systems.shipments import Shipments
from systems.supervised import SupervisedJob
from systems.world import World

_TICK_SECONDS: Final = 1.5
_TICKS: Final = 40  # of a publisher in which shipments begin; its late rows need some more
_LATENESS: Final = (0.4, 0.2, 0.2, 0.1, 0.1)
_POOL: Final = 10
_SEND_SECONDS: Final = 60
_JOB: Final = {
    "--trigger": "2 seconds",
    "--max-offsets-per-trigger": "1000",
    "--lease-seconds": "15",
    "--heartbeat-seconds": "3",
}


class ShipmentsForAll(Shipments):
    """Topics without rules, so that whoever judges may read them."""

    def create_topic(self, partitions: int) -> str:
        """Create a topic for everybody."""
        return self.kafka.create_topic(partitions)


class Shipper(Worker):
    """Writes the changes of publishers, a tick each second and a half, until it is stopped."""

    def __init__(self, seed: int, world: Shipments) -> None:
        super().__init__("shipper")
        self._seed, self._world = seed, world

    def work(self) -> None:
        """Write until stopped."""
        servers = self._world.kafka.cluster.bootstrap_servers("PLAINTEXT")
        with closing(KafkaProducer(bootstrap_servers=servers, acks="all")) as producer:
            for changes in make_ticks(self._seed):
                self._write(producer, changes)
                if self._stopped.wait(_TICK_SECONDS):
                    return

    def _write(self, producer: Any, changes: list[Change]) -> None:
        """Write the changes of a tick; who judges knows from the topics what was lost."""
        for each in changes:
            topic, value = self._world.topics[each.table], self._world.make_value(each)
            try:
                producer.send(topic, key=each.key.encode(), value=value).get(_SEND_SECONDS)
            except KafkaError:
                time.sleep(1)


def make_ticks(seed: int) -> Iterator[list[Change]]:
    """Yield the changes of tick after tick, of one publisher after the other."""
    for number in count():
        for changes in Publisher(seed + number, _TICKS, _TICKS, _LATENESS, _POOL).publish():
            kept = (each for each in changes if each.row is not None or each.table == DRIVER)
            yield [_rename(each, f"r{number}-") for each in kept]


def _rename(change: Change, prefix: str) -> Change:
    """Return a change of a row that no other publisher has."""
    row = change.row and {
        name: f"{prefix}{value}" if name.endswith("_id") else value
        for name, value in change.row.items()
    }
    return replace(change, key=f"{prefix}{change.key}", row=row)


class Staging:
    """A staging job beside another one, whose login it has, with all that it reads and writes."""

    def __init__(self, world: Shipments, login: World, seed: int) -> None:
        self._world, self.sender = world, Shipper(seed, world)
        world.arguments |= {**_JOB, "--secret-arn": login.arguments["--secret-arn"]}
        for table, versions in SCHEMAS.items():
            for version in range(1, len(versions) + 1):  # the registry may be down later
                world.find_id(table, version)
        self.job = SupervisedJob(lambda: world.launch(world.words))

    def read(self, list_rows: Callable[[str], Iterable[Row]]) -> Staged:
        """Return what the topics and the tables have."""
        world = self._world
        servers = world.kafka.cluster.bootstrap_servers("PLAINTEXT")
        versions = [read_versions(world.glue, world.name, table) for table in SCHEMAS]
        return Staged(
            {table: read_records(servers, topic) for table, topic in world.topics.items()},
            {key: text for each in versions for key, text in each.items()},
            {name: list(list_rows(table.name)) for name, table in world.shop.tables.items()},
            [row for row in list_rows(world.errors.name) if "reason" in row],
        )


@contextmanager
def running_staging(
    login: World, cloud: Cloud, client: Callable[..., Any], folder: Path, seed: int
) -> Iterator[Staging]:
    """Run a staging job until the block ends."""
    world = ShipmentsForAll(cloud, client, login.kafka, folder)
    with closing(world):
        staging = Staging(world, login, seed)
        with staging.job.running():
            yield staging
