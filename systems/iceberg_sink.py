"""Iceberg's sink in a distributed worker of Kafka Connect, or in two."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from kafka.admin import KafkaAdminClient

from localcloud.jars import JARS
from systems.accounts import environ_of
from systems.brokers import make_topics
from systems.kafka_connect import (
    LETTERS,
    ask_worker,
    await_worker,
    connector_settings,
    find_failure,
    find_port,
    worker_settings,
)
from systems.place import Place
from systems.processes import is_stopped
from systems.readers import TopicLetters
from systems.subject import DATABASE, s3_settings

_MAIN: Final = "org.apache.kafka.connect.cli.ConnectDistributed"
_SESSION_MS: Final = 10_000


class Workers:
    """A connector of two tasks in workers that are begun again when they end."""

    account = "222222222222"
    suffix = ""

    def __init__(self, place: Place, topic: str, workers: int = 1) -> None:
        self._place, self._topic = place, topic
        self._name = f"{topic}{self.suffix}"
        self._folder = place.new_folder(f"{topic}/connect{self.suffix}")
        self._letters = TopicLetters(place.servers, LETTERS)
        self.restarts = 0
        self._files = [self._write_settings(find_port()) for _ in range(workers)]
        self._processes = {file: self._begin(file) for file in self._files}

    @property
    def pid(self) -> int:
        """The id of the process of a worker, that of the first partition where there are two."""
        return self._processes[self._find_leader()].pid

    def start(self) -> None:
        """Create the connector when the workers answer."""
        for file in self._files:
            await_worker(_url(file), lambda: False)
        make_topics(self._place.servers, [f"{self._name}-control"])
        settings = self._connector()
        ask_worker("PUT", f"{_url(self._files[0])}/connectors/{self._name}/config", settings)

    def kill(self) -> bool:
        """Kill a worker, that of the first partition where there are two."""
        file = self._find_leader()
        process = self._processes[file]
        process.kill()
        killed = process.wait() == -signal.SIGKILL
        self._processes[file] = self._begin(file)
        return killed

    def stall(self, seconds: float) -> bool:
        """Stop the worker of the first partition, whose task coordinates commits."""
        process = self._processes[self._find_leader()]
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        stood_still = is_stopped(process.pid)
        process.send_signal(signal.SIGCONT)
        return stood_still

    def tend(self) -> None:
        """Begin workers again that have ended by themselves."""
        for file, process in self._processes.items():
            if process.poll() is not None:
                self.restarts += 1
                self._processes[file] = self._begin(file)

    def letters(self) -> Sequence[bytes]:
        """Return the bytes of its dead letters."""
        return self._letters.read(self._name)

    def describe_trouble(self) -> str:
        """Return the error of a task that has failed."""
        return find_failure(self._status(self._files[0]))

    def close(self) -> None:
        """End the workers."""
        for process in self._processes.values():
            process.kill()
            process.wait()

    def _status(self, file: Path) -> Any:
        return ask_worker("GET", f"{_url(file)}/connectors/{self._name}/status")

    def _find_leader(self) -> Path:
        """Return the worker whose task has the first partition, as the sink chooses it."""
        if len(self._files) == 1:
            return self._files[0]
        admin = KafkaAdminClient(bootstrap_servers=self._place.servers)
        group = admin.describe_groups([f"connect-{self._name}"])
        admin.close()
        task = _first_task(group)
        workers = {each["id"]: each["worker_id"] for each in self._status(self._files[0])["tasks"]}
        return next(each for each in self._files if _url(each).endswith(workers[task]))

    def _begin(self, file: Path) -> subprocess.Popen[bytes]:
        words = [*self._place.java, "-cp", f"{JARS}/connect/*", _MAIN, str(file)]
        environ = environ_of(self._place.aws, self.account)
        with file.with_suffix(".log").open("ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=environ)

    def _write_settings(self, port: int) -> Path:
        folder = self._folder / str(port)
        folder.mkdir()
        topics = {
            f"{kind}.storage.{name}": text
            for kind in ("config", "offset", "status")
            for name, text in {
                "topic": f"{self._name}-connect-{kind}",
                "replication.factor": "1",
            }.items()
        }
        settings = worker_settings(self._place, folder, port) | topics
        del settings["offset.storage.file.filename"]
        settings |= {
            "group.id": f"{self._name}-workers",
            "scheduled.rebalance.max.delay.ms": "10000",
        }
        file = folder / "worker.properties"
        file.write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
        return file

    def _connector(self) -> dict[str, str]:
        catalog = {"type": "glue", **s3_settings(self._place, self.account)}
        return {
            **connector_settings(self._place, self._folder, self._name),
            **{f"iceberg.catalog.{name}": text for name, text in catalog.items()},
            "iceberg.tables": f"{DATABASE}.{self._topic.replace('-', '_')}",
            "iceberg.kafka.auto.offset.reset": "earliest",
            "iceberg.kafka.session.timeout.ms": str(_SESSION_MS),
            "consumer.override.session.timeout.ms": str(_SESSION_MS),
            "tasks.max": "2",
            "topics": self._topic,
        }


class DefaultWorkers(Workers):
    """The same, but where the sink begins to read its control topic without an offset."""

    account = "444444444444"
    suffix = "-defaults"

    def _connector(self) -> dict[str, str]:
        settings = super()._connector()
        del settings["iceberg.kafka.auto.offset.reset"]
        return settings


def _url(file: Path) -> str:
    return f"http://127.0.0.1:{file.parent.name}"


def _first_task(groups: Any) -> int:
    """Return the task that has the lowest partition, from the description of its group."""
    owners = {}
    for group in groups.values() if isinstance(groups, dict) else groups:
        for member in group["members"]:
            for topic in member["member_assignment"]["assigned_partitions"]:
                for partition in topic["partitions"]:
                    owners[partition] = member["client_id"]
    return int(owners[min(owners)].rpartition("-")[2])
