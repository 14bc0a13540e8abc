"""Iceberg's own sink in a worker of Kafka Connect, with the settings that its documents give.

It is a process of its own, with the heap of `connect-standalone`. The registry that its converter
asks is a stub.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.spark.world import World
from localcloud.jars import JARS
from penstock.kafka import Topic, ensure_topic
from penstock.schemas import Schema
from systems.jars import find_plugins
from tools.cpu_time import living_seconds

_MAIN: Final = "org.apache.kafka.connect.cli.ConnectStandalone"
_CONTROL: Final = "control-iceberg"
_POLL_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 600
_LINES_SHOWN: Final = 30
_FAILED: Final = "Task threw an uncaught and unrecoverable exception"
_COMMIT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Sink:
    """A worker that appends the records of a topic to a table."""

    world: World
    table: str
    log: Path
    process: subprocess.Popen[bytes]

    def cpu_seconds(self) -> float:
        """Return the CPU time of the worker so far."""
        return sum(living_seconds(self.process.pid).values())

    def wait_for(self, rows: int) -> None:
        """Wait until the table has this many rows."""
        until = time.monotonic() + _LONGEST_SECONDS
        while self._count() < rows:
            said = self.log.read_text(errors="replace")
            has_failed = self.process.poll() is not None or _FAILED in said
            if has_failed or time.monotonic() > until:
                raise AssertionError("\n".join(said.splitlines()[-_LINES_SHOWN:]))
            time.sleep(_POLL_SECONDS)

    def _count(self) -> int:
        spark = self.world.spark
        return spark.table(self.table).count() if spark.catalog.tableExists(self.table) else 0


@contextmanager
def running_sink(
    world: World, topic: str, schemas: Mapping[int, Schema], table: str
) -> Iterator[Sink]:
    """Run a worker with the sink from a topic, whose records have these schemas, to a table."""
    folder = world.new_folder()
    ensure_topic(world.kafka(), Topic(_CONTROL, 1, 1))
    with _running_registry(folder, schemas) as registry:
        words = _command(folder, _worker(world, folder, registry), _sink(world, topic, table))
        log = folder / "worker.log"
        with log.open("wb") as file:
            process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
        try:
            yield Sink(world, f"lake.{table}", log, process)
        finally:
            process.kill()
            process.wait()


def _worker(world: World, folder: Path, registry: str) -> dict[str, str]:
    converter = {
        "": "io.apicurio.registry.utils.converter.AvroConverter",
        ".apicurio.registry.url": registry,
        ".apicurio.registry.headers.enabled": "false",
    }
    return {
        "bootstrap.servers": world.servers,
        "plugin.path": str(find_plugins(folder)),
        "listeners": "http://127.0.0.1:0",
        "offset.storage.file.filename": str(folder / "offsets"),
        **{
            f"{side}.converter{name}": text
            for side in ("key", "value")
            for name, text in converter.items()
        },
    }


def _sink(world: World, topic: str, table: str) -> dict[str, str]:
    return {
        "name": "iceberg",
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": "2",
        "topics": topic,
        "iceberg.tables": table,
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.tables.evolve-schema-enabled": "true",
        "iceberg.control.commit.interval-ms": str(_COMMIT_SECONDS * 1_000),
        "iceberg.catalog.type": "hadoop",
        "iceberg.catalog.warehouse": str(world.spark.conf.get("spark.sql.catalog.lake.warehouse")),
        "transforms": "debezium",
        "transforms.debezium.type": "org.apache.iceberg.connect.transforms.DebeziumTransform",
    }


def _command(folder: Path, *settings: Mapping[str, str]) -> list[str]:
    files = []
    for number, each in enumerate(settings):
        file = folder / f"{number}.properties"
        file.write_text("".join(f"{name}={text}\n" for name, text in each.items()))
        files.append(str(file))
    return ["java", "-Xms256m", "-Xmx2g", "-cp", f"{JARS}/connect/*", _MAIN, *files]


@contextmanager
def _running_registry(folder: Path, schemas: Mapping[int, Schema]) -> Iterator[str]:
    """Run a stub of Apicurio that has these schemas by their ids, and yield its URL."""
    file = folder / "schemas.json"
    file.write_text(json.dumps(dict(schemas)))
    words = [sys.executable, "-m", "bench.stubs.registry", str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout
        try:
            yield f"http://127.0.0.1:{stub.stdout.readline().strip()}/apis/registry/v2"
        finally:
            stub.kill()
