"""Iceberg's sink of Kafka Connect: a worker with a connector for each change."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from localcloud.jars import JARS
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
from systems.readers import IcebergTables, TopicLetters

_MAIN: Final = "org.apache.kafka.connect.cli.ConnectStandalone"


@dataclass(slots=True)
class IcebergSink:
    """The worker, which is asked for the state of tasks by its REST API."""

    place: Place
    tables: IcebergTables = field(init=False)
    letters: TopicLetters = field(init=False)
    _folder: Path = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)
    _url: str = field(init=False)

    def __post_init__(self) -> None:
        self._folder = self.place.new_folder("iceberg-sink")
        self.tables = IcebergTables(self._folder / "lake/proof")
        self.letters = TopicLetters(self.place.servers, LETTERS)
        port = find_port()
        self._url = f"http://127.0.0.1:{port}"
        file = self._folder / "worker.properties"
        settings = worker_settings(self.place, self._folder, port)
        file.write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
        words = [*self.place.java, "-cp", f"{JARS}/connect/*", _MAIN, str(file)]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)

    def start(self, changes: Sequence[str]) -> None:
        """Start a connector for each change, once the worker answers."""
        await_worker(self._url, lambda: self._process.poll() is not None)
        make_topics(self.place.servers, [f"{each}-control" for each in changes])
        for each in changes:
            settings = connector_settings(self.place, self._folder, each)
            self._call("PUT", f"/connectors/{each}/config", settings)

    def why_ended(self, change: str) -> str:
        """Return the error of a task that has failed."""
        return find_failure(self._call("GET", f"/connectors/{change}/status"))

    def restart(self, change: str) -> None:
        """Restart a connector and its tasks."""
        self._call("POST", f"/connectors/{change}/restart?includeTasks=true")

    def describe_trouble(self, change: str) -> str:
        """Return the reason that its first dead letter gives."""
        return self.letters.describe(change)

    def close(self) -> None:
        """End the worker."""
        self._process.kill()
        self._process.wait()

    def _call(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        return ask_worker(method, f"{self._url}{path}", body)
