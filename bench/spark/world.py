"""A broker, a Spark session like that of the jobs, and topics that are written on demand."""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.ladder import Form
from bench.spark.records import make_frames, make_versions
from penstock.kafka import KafkaSettings, Security, Topic, ensure_topic
from penstock.spark.decoding.jar import load_jar
from penstock.spark.query.source import FETCH_OPTIONS, SOURCE
from penstock.spark.session import session_settings
from systems.brokers import running_broker
from tools.cpu_time import living_seconds

PARTITIONS = 4
BY_HAND = "kafka"  # Spark's own source, for plans that are written by hand
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True, eq=False)
class World:
    """The place where ways are measured, with the records and partitions of its topics."""

    spark: SparkSession
    servers: str
    folder: Path
    records: int
    partitions: int = PARTITIONS
    _topics: set[str] = field(default_factory=set)
    _folders: count[int] = field(default_factory=count)
    _spent: dict[tuple[int, int], float] = field(default_factory=dict)

    def kafka(self) -> KafkaSettings:
        """Return the settings that lead to the broker."""
        return KafkaSettings(bootstrap_servers=(self.servers,), security=Security.PLAINTEXT)

    def gc_seconds(self) -> float:
        """Return how long the JVM has collected garbage so far."""
        factory: Any = self.spark._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]
        spent = [float(bean.getCollectionTime()) for bean in factory.getGarbageCollectorMXBeans()]
        return sum(spent) / 1e3

    def cpu_seconds(self) -> float:
        """Return the CPU time of the JVM, its Python workers and this process so far.

        Workers that have ended count as they did in the last call: PySpark ends idle workers after
        a minute, and their time is then in no sum of the system.
        """
        machine: Any = self.spark._jvm
        self._spent |= living_seconds(machine.java.lang.ProcessHandle.current().pid())
        return time.process_time() + sum(self._spent.values())

    def new_folder(self) -> Path:
        """Make a new folder."""
        folder = self.folder / str(next(self._folders))
        folder.mkdir(parents=True)
        return folder

    def write(self, topics: Sequence[str], frames: Sequence[bytes], records: int) -> None:
        """Write a number of records to topics, as many to each, repeating the frames.

        Partitions take turns with all frames, so each has as many records of each kind.
        """
        for topic in topics:
            ensure_topic(self.kafka(), Topic(topic, self.partitions, 1))
        numbered = self.spark.createDataFrame(list(enumerate(frames)), "at int, value binary")
        named = self.spark.createDataFrame(list(enumerate(topics)), "number int, topic string")
        self.spark.range(0, records, 1, self.partitions).join(
            F.broadcast(numbered), F.expr(f"id % {len(frames)} = at")
        ).join(F.broadcast(named), F.expr(f"id % {len(topics)} = number")).selectExpr(
            "topic",
            "value",
            f"CAST((id % {len(frames)} + id DIV {len(frames)}) % {self.partitions} AS INT)"
            " AS partition",
        ).write.format("kafka").options(
            **{"kafka.bootstrap.servers": self.servers, "kafka.linger.ms": "20"}
        ).save()

    def topic(self, name: str, frames: Sequence[bytes], records: int | None = None) -> str:
        """Return a topic of these frames, which is written once, all of it or so many records."""
        if name not in self._topics:
            self.write([name], frames, records or self.records)
            self._topics.add(name)
        return name

    def read(self, topic: str, records: int | None = None, source: str = SOURCE) -> DataFrame:
        """Read a topic as jobs do, or about this many of its first records."""
        partitions = self.partitions
        ends = dict.fromkeys(map(str, range(partitions)), (records or 0) // partitions)
        ending = "latest" if records is None else json.dumps({topic: ends})
        return (
            self.spark.read.format(source)
            .options(
                **{
                    "kafka.bootstrap.servers": self.servers,
                    "subscribe": topic,
                    "startingOffsets": "earliest",
                    "endingOffsets": ending,
                    **FETCH_OPTIONS,
                }
            )
            .load()
        )


def mixed_topic(world: World, count: int) -> str:
    """Return a topic whose records have this many versions in turns."""
    return world.topic(f"mixed-{count}", make_frames(make_versions(count)))


def world_for(form: Form) -> World:
    """Return the world of this process; it starts with the first rung that asks for it."""
    if not _OPEN:
        _OPEN.append(_open_world(form.records))
    return _OPEN[0]


def close_world() -> None:
    """End the broker and Spark's JVM of this world, if it is open, whatever state they are in."""
    _OPEN.clear()
    with suppress(Exception):
        _STACK.close()


_OPEN: list[World] = []
_STACK = ExitStack()
atexit.register(close_world)


def _open_world(records: int) -> World:
    folder = Path(_STACK.enter_context(tempfile.TemporaryDirectory()))
    servers = _STACK.enter_context(running_broker(folder / "broker"))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    _STACK.callback(_end_jvm)
    spark = SparkSession.builder.config(map={**_settings(folder)}).getOrCreate()
    _STACK.callback(spark.stop)
    spark.sparkContext.setLogLevel("ERROR")
    load_jar(spark)
    return World(spark, servers, folder / "world", records)


def _end_jvm() -> None:
    """End the JVM, so that the next session has a new one."""
    if gateway := SparkContext._gateway:
        SparkContext._gateway = SparkContext._jvm = None
        with suppress(Exception):
            gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.terminate()
        gateway.proc.wait(30)


def _settings(folder: Path) -> dict[str, str]:
    folders = ("jars/spark/lib", "localcloud/.cache/jars/s3")
    found = (path for folder in folders for path in _ROOT.glob(f"{folder}/*.jar"))
    jars = sorted({path.name: str(path) for path in found}.values())
    return {
        **session_settings(),
        "spark.master": f"local[{os.cpu_count()}]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.jars": ",".join(jars),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        "spark.sql.maxConcurrentOutputFileWriters": "40",  # as in spark/lake/parquet.py
        "spark.sql.shuffle.partitions": str(os.cpu_count()),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
