"""Flink's dynamic Iceberg sink: a job for each change, in one process with a cluster of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyspark

from bench.connect import fetch_jars
from proof.readers import IcebergTables, NoLetters
from proof.system import ROOT, Place, Worker

_CACHE: Final = ROOT / ".cache/proof"
_POM: Final = Path(__file__).with_name("flink.xml")
_SOURCE: Final = Path(__file__).with_name("DynamicSinkJobs.java")
# Flink and its serializers reach into these packages, as its own scripts allow.
_OPENED: Final = [
    f"--add-opens=java.base/{each}=ALL-UNNAMED"
    for each in (
        "java.lang",
        "java.util",
        "java.time",
        "java.util.concurrent",
        "java.net",
        "java.io",
    )
]


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


def job_words(place: Place, folder: Path) -> list[str]:
    """Return the command line of the program, whose files and tables are in a folder."""
    words = [*place.java, *_OPENED, "-cp", _class_path(), "DynamicSinkJobs"]
    return [*words, place.servers, f"http://{place.registry}", str(folder)]


def _class_path() -> str:
    """Return the class path of the program, which is fetched and compiled once."""
    jars = _CACHE / "flink"
    fetch_jars(_POM, jars)
    hadoop = Path(pyspark.__file__).parent.glob("jars/hadoop-client-*.jar")
    others = Path(pyspark.__file__).parent.glob("jars/commons-logging-*.jar")
    paths = ":".join(map(str, [f"{jars}/*", *hadoop, *others]))
    classes = _CACHE / "classes"
    compiled = classes / f"{_SOURCE.stem}.class"
    if not compiled.exists() or compiled.stat().st_mtime < _SOURCE.stat().st_mtime:
        subprocess.run(["javac", "-cp", paths, "-d", str(classes), str(_SOURCE)], check=True)
    return f"{classes}:{paths}"
