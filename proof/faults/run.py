"""Trials: a fault happens to systems that read one stream, and the oracle counts."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcloud.brokers import BrokerCluster
from localcloud.cloud import Cloud
from localcloud.door.server import start_server
from localcloud.faults import Faults
from proof.faults.kinds import FAULTS, FaultKind, Scene
from proof.faults.oracle import Count, Record, count
from proof.faults.results import Outcome
from proof.faults.sender import Sender
from proof.faults.tended import Tended
from systems.accounts import make_lake
from systems.brokers import running_cluster
from systems.flink import FlinkJob
from systems.iceberg_sink import DefaultWorkers, Workers
from systems.place import Place
from systems.readers import GlueTable
from systems.registry import Registry, running_registry
from systems.spark import SparkJob
from systems.subject import DATABASE, Subject

SYSTEMS: Final[Mapping[str, Callable[[Place, str, int], Subject]]] = {
    "penstock-job": lambda place, topic, _: SparkJob(place, topic),
    "iceberg-sink": Workers,
    "iceberg-sink-defaults": DefaultWorkers,
    "flink": lambda place, topic, _: FlinkJob(place, topic),
}
QUIET_SECONDS: Final = 60
_START_SECONDS: Final = 600
_LONGEST_SECONDS: Final = 1_800
_AFTER_SECONDS: Final = 10
_POLL_SECONDS: Final = 2
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Trial:
    """A system in a trial, with its table."""

    name: str
    tended: Tended
    table: GlueTable
    scene: Scene
    folder: Path

    def await_start(self) -> None:
        """Wait for its first rows."""
        until = time.monotonic() + _START_SECONDS
        while self.table.count() == 0:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.name} has written nothing: no trial")
            time.sleep(_POLL_SECONDS)

    def settle(self, topic: Sequence[Record], quiet_seconds: float) -> Outcome:
        """Wait until nothing comes; if not all is there, begin it again by hand, and wait."""
        found, stopped = self._await(topic, quiet_seconds), 0
        trouble = self.tended.describe_trouble()
        if lost := found.lost:
            _LOG.info("%s is begun again by hand: %s; %s", self.name, found, trouble)
            self.tended.kill()
            found = self._await(topic, quiet_seconds)
            stopped = lost - found.lost
        trouble = trouble.replace(str(self.folder), "")
        return Outcome(found, stopped, self.tended.subject.restarts, trouble)

    def _await(self, topic: Sequence[Record], quiet_seconds: float) -> Count:
        """Count when nothing has come for so long; a row that comes twice may be the last one."""
        seen = -1
        began = since = time.monotonic()
        while (now := time.monotonic()) < min(since + quiet_seconds, began + _LONGEST_SECONDS):
            if (rows := self.table.count()) != seen:
                seen, since = rows, now
            time.sleep(_POLL_SECONDS)
        return count(topic, self.table.read_ids(), self.tended.subject.letters())


@dataclass(frozen=True, slots=True)
class Stage:
    """The broker, the registry and the accounts of a run."""

    place: Place
    cluster: BrokerCluster
    registry: Registry
    cloud: Cloud
    seed: int
    quiet_seconds: float

    def run(self, name: str, systems: Sequence[str]) -> dict[str, Outcome | None]:
        """Let a fault happen to systems at once; return the outcome of each, None if it did not."""
        fault = FAULTS[name]
        with ExitStack() as stack:
            sender = Sender(self.place.servers, self.registry, name)
            trials = [self._open(stack, name, fault, each) for each in systems]
            for each in trials:
                each.tended.subject.start()
                stack.enter_context(each.tended.running())
            for each in trials if fault.warm else ():
                each.await_start()
            _LOG.info("%s: begins after %d records", name, sender.sent)
            fired = self._happen(fault, trials, sender)
            self.cloud.state(Faults).clear()
            time.sleep(_AFTER_SECONDS)
            topic = sender.close()
            _LOG.info("%s: %d records, fired %s", name, len(topic), fired)
            with ThreadPoolExecutor() as pool:
                outcomes = pool.map(lambda each: each.settle(topic, self.quiet_seconds), trials)
                return {
                    each.name: outcome if fired[each.name] else None
                    for each, outcome in zip(trials, outcomes, strict=True)
                }

    def _open(self, stack: ExitStack, name: str, fault: FaultKind, system: str) -> Trial:
        subject = SYSTEMS[system](self.place, name, fault.workers)
        stack.callback(subject.close)
        table = GlueTable(self.place.aws, subject.account, f"{DATABASE}.{name.replace('-', '_')}")
        rng = random.Random(f"{self.seed} {name} {system}")  # noqa: S311 - no secret
        scene = Scene(Tended(subject), table.count, self.cloud.state(Faults), rng)
        return Trial(system, scene.tended, table, scene, self.place.folder)

    def _happen(
        self, fault: FaultKind, trials: Sequence[Trial], sender: Sender
    ) -> Mapping[str, bool]:
        if fault.happen_to_all:
            fired = fault.happen_to_all(self.cluster, self.registry, sender)
            return {each.name: fired for each in trials}
        happen = fault.happen
        assert happen
        with ThreadPoolExecutor() as pool:
            all_fired = pool.map(lambda each: happen(each.scene), trials)
            return {each.name: fired for each, fired in zip(trials, all_fired, strict=True)}


@contextmanager
def running_stage(folder: Path, seed: int, quiet_seconds: float) -> Iterator[Stage]:
    """Run broker, registry and AWS until the block ends."""
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(folder / "broker"))
        registry = stack.enter_context(running_registry(folder))
        server = start_server(folder / "aws", 0)
        stack.callback(server.stop)
        endpoint = server.cloud.endpoint
        for each in (SparkJob, Workers, DefaultWorkers, FlinkJob):
            make_lake(endpoint, each.account, DATABASE)
        place = Place(cluster.bootstrap_servers("PLAINTEXT"), registry.host, endpoint, folder)
        yield Stage(place, cluster, registry, server.cloud, seed, quiet_seconds)
