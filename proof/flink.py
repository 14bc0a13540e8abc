"""Flink's dynamic Iceberg sink: a job for each change, in one process with a cluster of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from systems.flink import job_words
from systems.place import Place
from systems.readers import IcebergTables, NoLetters
from systems.worker import Worker


@dataclass(slots=True)
class Flink:
    """The jobs, of the program `DynamicSinkJobs.java`."""

    place: Place
    tables: IcebergTables = field(init=False)
    letters: NoLetters = field(init=False)
    _worker: Worker = field(init=False)

    def __post_init__(self) -> None:
        folder = self.place.new_folder("flink")
        self.tables, self.letters = IcebergTables(folder / "lake/proof"), NoLetters()
        self._worker = Worker(job_words(self.place, folder), folder / "log")

    def start(self, changes: Sequence[str]) -> None:
        """Start a job for each change."""
        for each in changes:
            self.restart(each)

    def why_ended(self, change: str) -> str:
        """Return the first cause of the error that ended a job."""
        return self._worker.ask("why_ended", change=change)

    def restart(self, change: str) -> None:
        """Start a job, from its newest checkpoint if it has one."""
        if why := self._worker.ask("start", change=change):
            raise AssertionError(f"a job did not start: {why}")

    def describe_trouble(self, change: str) -> str:
        """Return the last error, after which Flink started the job again by itself."""
        return self._worker.ask("trouble", change=change)

    def close(self) -> None:
        """End the process."""
        self._worker.close()
