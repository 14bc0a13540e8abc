"""The attempts of a job run: one folder each, files and logs with the job's role."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.errors import JobFailedError, LocalcloudError
from localcloud.jobs.driver import Driver
from localcloud.jobs.environment import Place, driver_variables, take_role
from localcloud.jobs.execution import execute
from localcloud.jobs.logs import LogPlaces, deliver_logs
from localcloud.jobs.run import JobRun
from localcloud.jobs.spark import SparkJob, build_launch
from localcloud.jobs.submission import Submission
from localcloud.network import find_source, load_network

_OUTPUTS = ("stdout", "stderr", "controller")
_FETCHED = ("archives", "entry", "jars", "local", "py-files", "work")


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A run: its place and role, its submission, its log places, and the cluster's variables."""

    region: str
    place: Place
    entry_point: str
    arguments: tuple[str, ...]
    submission: Submission
    logs: LogPlaces
    exported: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Runner:
    """Starts the attempts of one run and delivers their output.

    `finish` gets the folder and the exit code of an attempt, None if it did not start, before its
    output is delivered.
    """

    cloud: Cloud
    spec: JobSpec
    run: JobRun
    prepare: Callable[[], AbstractContextManager[None]] = field(repr=False)
    pid: int = 0  # of the current process
    finish: Callable[[Path, int | None], None] = lambda _folder, _code: None
    _driver: Driver | None = None

    def work(self) -> None:
        """Run it to its end."""
        execute(self.run, self.prepare, self._start, self._deliver)

    def _start(self, number: int) -> Driver:
        """Start an attempt: its files are fetched with its role, from its VPC."""
        folder, spec = self._folder(number), self.spec
        folder.mkdir(parents=True, exist_ok=True)
        try:
            key = take_role(self.cloud, spec.place, self.run.id)
            variables = driver_variables(self.cloud, spec.place, key, folder)
            s3 = self._open_client("s3")
            job = SparkJob(
                spec.entry_point,
                spec.arguments,
                spec.submission,
                spec.region,
                variables,
                spec.exported,
            )
            launch = build_launch(job, s3, folder, self._log)
        except LocalcloudError as error:
            self._note(folder / "stderr", str(error))
            self._note(self._log, str(error))
            raise JobFailedError(str(error)) from error
        self._driver = Driver(launch)
        self.pid = self._driver.pid
        return self._driver

    def _deliver(self, number: int) -> None:
        """Deliver the output of an attempt from its VPC, as the workers do on AWS."""
        self.pid, folder = 0, self._folder(number)
        if folder.exists():
            self.finish(folder, self._driver.exit_code if self._driver else None)
        printed = {name: folder / name for name in _OUTPUTS if (folder / name).exists()}
        if printed:
            places = self.spec.logs.of_attempt(number)
            for problem in deliver_logs(places, self._open_client, printed):
                self._note(self._log, problem)
        for name in _FETCHED:  # every attempt has its own, more than a hundred megabytes
            shutil.rmtree(folder / name, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self._folder(1).with_name(f"{self.run.id}.log")

    def _folder(self, number: int) -> Path:
        return self.cloud.folder.resolve() / "jobs" / self.run.id / f"attempt-{number}"

    def _open_client(self, service: str) -> Any:
        """Return a client with the job's role, in its VPC."""
        place = self.spec.place
        network = load_network(self.cloud).environment_for(find_source(place.subnets, place.groups))
        key = take_role(self.cloud, place, self.run.id)
        return key.open_client(service, self.spec.region, network["AWS_ENDPOINT_URL"])

    def _note(self, path: Path, line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")
