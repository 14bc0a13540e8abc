"""Flink's dynamic Iceberg sink: a job for each change, in one process with a cluster of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from proof.system import WorkerSystem
from systems.flink import job_words
from systems.readers import IcebergTables, NoLetters
from systems.worker import Worker


@dataclass(slots=True)
class Flink(WorkerSystem):
    """The jobs, of the program `DynamicSinkJobs.java`."""

    tables: IcebergTables = field(init=False)
    letters: NoLetters = field(init=False)

    def __post_init__(self) -> None:
        folder = self.place.new_folder("flink")
        self.tables, self.letters = IcebergTables(folder / "lake/proof"), NoLetters()
        self._worker = Worker(job_words(self.place, folder), folder / "log")

    def restart(self, change: str) -> None:
        """Start a job, from its newest checkpoint if it has one."""
        if why := self._worker.ask("start", change=change):
            raise AssertionError(f"a job did not start: {why}")

    def describe_trouble(self, change: str) -> str:
        """Return the last error, after which Flink started the job again by itself."""
        return self._worker.ask("trouble", change=change)
