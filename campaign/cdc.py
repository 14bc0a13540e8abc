"""Change data capture: a database, its connector, a job that copies the tables, and who changes it.

The connector's worker is started again when it ends, and its task when it failed, as an operator
does. A topic gets more partitions as a run goes on, so that the job may read a later change first.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from decimal import Decimal
from itertools import islice
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from typing import Any, Final

from kafka import TopicPartition
from kafka.admin import NewPartitions
from kafka.errors import KafkaError

from campaign.changes import CREATE, MOVED, TABLES, make_transactions
from campaign.history import Captured, Row
from campaign.readers import list_lake
from campaign.workers import Worker
from localcloud.cloud import Cloud
from localcloud.errors import WorkerStartError
from localcloud.testing import is_running, wait_until
from systems.capture import PARAMETERS, Capture, capturing
from systems.films import SETTINGS, create_item_table
from systems.supervised import SupervisedJob
from systems.world import World

_NAME: Final = "films"
_TOPIC: Final = "films.public.{}"
_PAUSE_SECONDS: Final = 0.4
_POLL_SECONDS: Final = 2.0
_START_SECONDS: Final = 300.0
# Transactions at once: the last ones of the first are some batches after the first of the others.
_HURRIED: Final = (300, 50)
_SETTLE_SECONDS: Final = 5.0
_CLIENT: Final = {"metadata.max.age.ms": "2000"}  # a new partition is used soon
_JOB: Final = {
    "--topic-pattern": r"films\.public\..*",
    "--trigger": "2 seconds",
    "--max-offsets-per-trigger": "500",
    "--lease-seconds": "15",
    "--heartbeat-seconds": "3",
}
_LOG = logging.getLogger("campaign")


class Changer(Worker):
    """Runs one transaction after the other until it is stopped."""

    def __init__(self, seed: int, capture: Capture) -> None:
        super().__init__("changer")
        self._transactions = make_transactions(Random(seed))  # noqa: S311 - no secret
        self._capture = capture
        self._lock = Lock()

    def work(self) -> None:
        """Change until stopped."""
        while not self._stopped.wait(_PAUSE_SECONDS):
            self.change(1)

    def change(self, count: int) -> None:
        """Run transactions; who judges knows from the database which ones it has."""
        with self._lock:  # transactions at the same time could wait for each other
            try:
                self._capture.query("\n".join(islice(self._transactions, count)))
            except AssertionError as error:
                if "ERROR:" in str(error):  # else there is no database now
                    raise
                time.sleep(1)


class Cdc:
    """A job of change data capture, with all that it reads and writes."""

    def __init__(self, world: World, endpoint: str, capture: Capture, seed: int) -> None:
        self._world, self._endpoint, self._capture = world, endpoint, capture
        self._worker_lock, self._database_lock = Lock(), Lock()
        self.sender = Changer(seed, capture)
        self._lake, self._items = world.name.replace("-", "_"), f"{world.name}-{{table}}"
        for table in TABLES:
            create_item_table(world.database, self._items.format(table=_name_copy(table)))
        capture.query(CREATE)
        capture.connect(_NAME, ",".join(f"public.{table}" for table in TABLES), **SETTINGS)
        wait_until("the snapshot is read", lambda: all(map(self._count, TABLES)))
        self.job = SupervisedJob(lambda: world.launch(world.words))

    def read(self, list_rows: Callable[[str], Iterable[Row]]) -> Captured:
        """Return the tables of the database, and their copies."""
        return Captured(
            {table: self._read_table(table) for table in TABLES},
            {
                "lake": {
                    table: list_lake(self._endpoint, self._lake, _name_copy(table))
                    for table in TABLES
                },
                "dynamodb": {
                    table: list(list_rows(self._items.format(table=_name_copy(table))))
                    for table in TABLES
                },
            },
            {
                table: list_lake(self._endpoint, self._lake, f"{_name_copy(table)}_history")
                for table in TABLES
            },
            [row for row in list_rows(self._world.errors.name) if "reason" in row],
        )

    def _read_table(self, table: str) -> list[Row]:
        """Return the rows of the database, the time of each as records have it."""
        moment = """to_char(changed AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
        sql = f"SELECT to_jsonb(t) || jsonb_build_object('changed', {moment}) FROM {table} t"  # noqa: S608
        lines = self._capture.query(sql).splitlines()
        return [json.loads(line, parse_float=Decimal) for line in lines]

    # --- faults --------------------------------------------------------------------------------

    def kill_worker(self, seconds: float) -> bool:
        """Kill the connector's worker for some time; return whether another one runs then."""
        self._await_worker()
        with self._worker_lock:
            killed = self._capture.worker.pid
            self._capture.worker.kill()
            time.sleep(seconds)
            is_gone = killed is not None and not is_running(killed)
        self._await_worker()
        return is_gone and self._capture.worker.pid != killed

    def kill_database(self, seconds: float) -> bool:
        """Kill the database for some time; return whether it recovered."""
        database = self._capture.database
        with self._database_lock:
            killed = database.pid
            database.kill()
            time.sleep(seconds)
            is_gone = killed is not None and not is_running(killed)
            database.start(PARAMETERS)
            return is_gone and database.pid != killed

    def move_keys(self, brokers: Lock) -> int:
        """Kill the job, and let keys of a topic move to a new partition while it starts.

        `brokers` is held while all of them must be there. Return how many records the new
        partition has: the job has older ones in others to read.
        """
        with self.job.lock:
            self.job.find_working()
            self.job.kill()
            before, after = _HURRIED
            self.sender.change(before)
            time.sleep(_SETTLE_SECONDS)  # the connector writes them
            with brokers:
                new = self._add_partition(_TOPIC.format(MOVED))
            time.sleep(_SETTLE_SECONDS)  # it learns of the partition
            self.sender.change(after)
            self.job.find_working()
        with closing(self._world.kafka.cluster.open_consumer()) as consumer:
            return int(consumer.end_offsets([new])[new])

    def _add_partition(self, topic: str) -> TopicPartition:
        cluster = self._world.kafka.cluster
        with closing(cluster.open_consumer()) as consumer, closing(cluster.open_admin()) as admin:
            count = len(consumer.partitions_for_topic(topic))
            admin.create_partitions({topic: NewPartitions(count + 1)})
        return TopicPartition(topic, count)

    # --- what an operator does -----------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let job and connector run until the block ends."""
        ended = Event()
        operator = Thread(target=self._operate, args=[ended], name="operator", daemon=True)
        operator.start()
        try:
            with self.job.running():
                yield
        finally:
            ended.set()
            operator.join()

    def _operate(self, ended: Event) -> None:
        while not ended.wait(_POLL_SECONDS):
            with self._worker_lock, suppress(WorkerStartError):
                worker = self._capture.worker
                if not worker.running:
                    worker.start()
                status = worker.describe_connector(_NAME)
                parts = [status["connector"], *status["tasks"]] if status else []
                if any(part["state"] == "FAILED" for part in parts):
                    _LOG.info("the connector failed, and begins again")
                    worker.act(_NAME, "restart")

    def _await_worker(self) -> None:
        wait_until("the worker runs", lambda: self._capture.worker.running, _START_SECONDS)

    def _count(self, table: str) -> int:
        """Return how many records the first partition of a topic has."""
        place = TopicPartition(_TOPIC.format(table), 0)
        with suppress(KafkaError), closing(self._world.kafka.cluster.open_consumer()) as consumer:
            return int(consumer.end_offsets([place])[place])
        return 0


def _name_copy(table: str) -> str:
    return f"films_public_{table}"


@contextmanager
def running_cdc(
    login: World, cloud: Cloud, client: Callable[..., Any], folder: Path, seed: int
) -> Iterator[Cdc]:
    """Run a job of change data capture until the block ends."""
    home = folder / "capture"
    home.mkdir()
    with (
        closing(World(cloud, client, login.kafka, folder, "cdc")) as world,
        capturing(home, login.kafka.cluster, _CLIENT) as capture,
    ):
        lake = world.name.replace("-", "_")
        place = {"Name": lake, "LocationUri": f"s3://{world.name}/tables/"}
        client("glue").create_database(DatabaseInput=place)
        world.arguments |= {
            **_JOB,
            "--secret-arn": login.arguments["--secret-arn"],
            "--registry": capture.registry,
            "--current-table": f"{lake}.{{table}}",
            "--history-table": f"{lake}.{{table}}_history",
            "--current-dynamodb-table": f"{world.name}-{{table}}",
        }
        cdc = Cdc(world, cloud.endpoint, capture, seed)
        with cdc.running():
            yield cdc
