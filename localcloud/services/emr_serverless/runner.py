"""How job runs run: a thread for each, a folder for each attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.errors import JobFailedError, LocalcloudError
from localcloud.jobs import (
    Driver,
    JobRun,
    LogPlaces,
    SparkJob,
    Submission,
    build_launch,
    deliver_logs,
    execute,
)
from localcloud.services.emr_serverless.driver_environment import (
    Place,
    describe_surroundings,
    take_role,
)

_STOP_SECONDS = 20
_OUTPUTS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What a run is made of: where and as whom, what, and where its log goes."""

    region: str
    place: Place
    entry_point: str
    arguments: tuple[str, ...]
    submission: Submission
    logs: LogPlaces


class RunningJobs:
    """The runs of a localcloud, which end with it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._threads: list[tuple[JobRun, threading.Thread]] = []

    def start(self, cloud: Cloud, run: JobRun, work: Callable[[], None]) -> None:
        """Begin a run in a thread of its own."""
        if not self._threads:
            cloud.on_stop(self.stop)
        thread = threading.Thread(target=work, name=f"job run {run.id}", daemon=True)
        self._threads.append((run, thread))
        thread.start()

    def stop(self) -> None:
        """Kill what runs, and wait until it is gone."""
        for run, _ in self._threads:
            run.cancel(0)
        for _, thread in self._threads:
            thread.join(_STOP_SECONDS)


@dataclass(slots=True)
class Runner:
    """Begins the attempts of one run and delivers what they print."""

    cloud: Cloud
    spec: JobSpec
    run: JobRun
    prepare: Callable[[], None] = field(repr=False)
    pid: int = 0  # of what runs now

    def work(self) -> None:
        """Run it to its end."""
        execute(self.run, self.prepare, self._start, self._deliver)

    def _start(self, number: int) -> Driver:
        """Begin an attempt: its files are fetched as its role, from within its VPC."""
        folder, spec = self._folder(number), self.spec
        folder.mkdir(parents=True, exist_ok=True)
        try:
            key = take_role(self.cloud, spec.place, self.run.id)
            variables = describe_surroundings(self.cloud, spec.place, key, folder)
            s3 = self._open_client("s3", variables["AWS_ENDPOINT_URL"])
            job = SparkJob(
                spec.entry_point, spec.arguments, spec.submission, spec.region, variables
            )
            launch = build_launch(job, s3, folder, self._log)
        except LocalcloudError as error:
            self._note(folder / "stderr", str(error))
            self._note(self._log, str(error))
            raise JobFailedError(str(error)) from error
        driver = Driver(launch)
        self.pid = driver.pid
        return driver

    def _deliver(self, number: int) -> None:
        """Deliver what an attempt printed: EMR's own doing, outside of the VPC."""
        self.pid, folder = 0, self._folder(number)
        printed = {name: folder / name for name in _OUTPUTS if (folder / name).exists()}
        if printed:
            places = self.spec.logs.of_attempt(number)
            for problem in deliver_logs(places, self._open_client, printed):
                self._note(self._log, problem)

    @property
    def _log(self) -> Path:
        return self._folder(1).with_name(f"{self.run.id}.log")

    def _folder(self, number: int) -> Path:
        return self.cloud.folder.resolve() / "jobs" / self.run.id / f"attempt-{number}"

    def _open_client(self, service: str, endpoint: str = "") -> Any:
        key = take_role(self.cloud, self.spec.place, self.run.id)
        return key.open_client(service, self.spec.region, endpoint or self.cloud.endpoint)

    def _note(self, path: Path, line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")
