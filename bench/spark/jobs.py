"""The whole job: a running query that finds a topic's records in one batch."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.spark.records import make_frames, make_version
from bench.spark.ways import NoErrors, open_registries
from bench.spark.world import PARTITIONS, World
from penstock.registry import RegistrySettings
from penstock.spark import ConsumeSettings
from penstock.spark.query.api import build_query
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.settings import SinkSettings
from penstock.spark.state.lease import NoLease

_FIRST = 100 * PARTITIONS


class BegunJobs:
    """Jobs with a sink each, on a topic of 5 versions; each has read the topic's first records.

    Args:
        world: where the jobs run.
        sinks: where each job writes, by the job's name.
        written: the folders that the sinks write into.
        records: how many a job reads in the batch that is measured.
    """

    def __init__(
        self,
        world: World,
        sinks: Mapping[str, SinkSettings],
        written: Sequence[Path],
        records: int,
    ) -> None:
        self._world, self._sinks, self._records = world, sinks, records
        self._checkpoints = world.new_folder()
        self._kept = {folder: world.new_folder() / "kept" for folder in written}
        self._kept[self._checkpoints] = world.new_folder() / "kept"
        versions = [make_version(number) for number in range(5)]
        frames = make_frames(versions)
        self._registries = open_registries(versions)
        world.write(["jobs"], frames, _FIRST)
        for name in sinks:
            self._run(name, _FIRST)
        for folder, kept in self._kept.items():
            shutil.copytree(folder, kept)
        world.write(["jobs"], frames, records)

    def run(self, name: str) -> float:
        """Run a job on the new records, from the state that it had after the first records."""
        for folder, kept in self._kept.items():
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
        return self._run(name, self._records)

    def _run(self, name: str, records: int) -> float:
        """Return the seconds of the one batch, from reading offsets to committing them."""
        settings = ConsumeSettings(
            kafka=self._world.kafka(),
            read=ReadSettings(topics=("jobs",)),
            sinks=self._sinks[name],
            lease=LeaseSettings(),
            schemas=RegistrySettings("memory://"),
            checkpoint=f"file://{self._checkpoints}/{name}",
            trigger="available-now",
        )
        query = build_query(
            self._world.spark, settings, self._registries, NoErrors(), NoLease()
        ).start(**settings.when())
        query.awaitTermination()
        (batch,) = [each for each in query.recentProgress if each["numInputRows"]]
        # Spark counts the records of each pass.
        assert batch["numInputRows"] % records == 0, batch
        return float(batch["durationMs"]["triggerExecution"]) / 1e3
