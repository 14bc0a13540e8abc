"""Flink's dynamic Iceberg sink: a process that begins its job from the newest checkpoint."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyspark

from systems.accounts import environ_of
from systems.jars import FLINK_POM, fetch_jars
from systems.place import ROOT, Place
from systems.subject import s3_settings
from systems.worker import Worker

_CACHE: Final = ROOT / ".cache/proof"
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


class FlinkJob:
    """The program `DynamicSinkJobs.java` with one job."""

    account = "333333333333"

    def __init__(self, place: Place, topic: str) -> None:
        self._topic, self._environ = topic, environ_of(place.aws, self.account)
        self._folder = place.new_folder(f"{topic}/flink")
        catalog = {
            "catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
            **s3_settings(place, self.account),
        }
        self._words = [*job_words(place, self._folder), json.dumps(catalog)]
        self.restarts = 0
        self._starts = 0
        self._refusal = ""
        self._worker = self._begin()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._worker.pid

    def start(self) -> None:
        """Start the job, from its newest checkpoint if it has one."""
        self._refusal = self._worker.ask("start", change=self._topic)
        if self._refusal:
            raise AssertionError(f"a job did not start: {self._refusal}")

    def kill(self) -> bool:
        """Kill the process; `tend` begins a job again that does not start in the next one."""
        killed = self._worker.kill()
        self._worker = self._begin()
        with suppress(AssertionError):
            self.start()
        return killed

    def stall(self, seconds: float) -> bool:
        """Refuse: without high availability, nothing would begin a second job."""
        raise NotImplementedError  # no fault calls it: `systems` in proof/faults/kinds.py

    def tend(self) -> None:
        """Begin the process or the job again if it has ended."""
        if self._worker.ask("why_ended", change=self._topic):
            self.restarts += 1
            self.kill()

    def letters(self) -> Sequence[bytes]:
        """Return none: it has no dead letters."""
        return []

    def describe_trouble(self) -> str:
        """Return why the job does not start, or the error after which Flink started it again."""
        return self._refusal or self._worker.ask("trouble", change=self._topic)

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _begin(self) -> Worker:
        self._starts += 1
        return Worker(self._words, self._folder / f"log-{self._starts}", self._environ)


def job_words(place: Place, folder: Path) -> list[str]:
    """Return the command line of the program, whose files and tables are in a folder."""
    words = [*place.java, *_OPENED, "-cp", _class_path(), "DynamicSinkJobs"]
    return [*words, place.servers, f"http://{place.registry}", str(folder)]


def _class_path() -> str:
    """Return the class path of the program, which is fetched and compiled once."""
    jars = _CACHE / "flink"
    fetch_jars(FLINK_POM, jars)
    hadoop = Path(pyspark.__file__).parent.glob("jars/hadoop-client-*.jar")
    others = Path(pyspark.__file__).parent.glob("jars/commons-logging-*.jar")
    paths = ":".join(map(str, [f"{jars}/*", *hadoop, *others]))
    classes = _CACHE / "classes"
    compiled = classes / f"{_SOURCE.stem}.class"
    if not compiled.exists() or compiled.stat().st_mtime < _SOURCE.stat().st_mtime:
        subprocess.run(["javac", "-cp", paths, "-d", str(classes), str(_SOURCE)], check=True)
    return f"{classes}:{paths}"
