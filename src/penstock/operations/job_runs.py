"""The runs of a consumer's jobs: job runs of EMR Serverless, and steps of a cluster of EMR."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import OperationError
from penstock.operations.clients import build_client
from penstock.operations.jobs import JobRun, read_commands, read_request
from penstock.operations.steps import ADD_STEPS, JobStep


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A job run or a step: when it was submitted, its state and since when, and why it failed."""

    job: str
    run: JobRun | JobStep
    state: str
    detail: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class _Place:
    """An application of EMR Serverless, or a cluster of EMR, in which jobs run."""

    region: str
    application_id: str = ""
    cluster_id: str = ""

    def __str__(self) -> str:
        if self.application_id:
            return f"application {self.application_id}"
        return f"cluster {self.cluster_id}"

    def list_runs(self) -> Iterator[ListedRun]:
        """Yield its runs, the newest first."""
        if self.application_id:
            emr = build_client("emr-serverless", region=self.region)
            asked = {"applicationId": self.application_id}
            for page in emr.get_paginator("list_job_runs").paginate(**asked):
                yield from (self._read_run(each) for each in page["jobRuns"])
            return
        emr = build_client("emr", region=self.region)
        for page in emr.get_paginator("list_steps").paginate(ClusterId=self.cluster_id):
            yield from (self._read_step(each) for each in page["Steps"])

    def _read_run(self, shown: Mapping[str, Any]) -> ListedRun:
        return ListedRun(
            shown.get("name", ""),
            JobRun(self.application_id, shown["id"], self.region),
            shown["state"],
            shown["stateDetails"],
            shown["createdAt"],
            shown["updatedAt"],
        )

    def _read_step(self, shown: Mapping[str, Any]) -> ListedRun:
        status = shown["Status"]
        times = status["Timeline"]
        created = times["CreationDateTime"]
        return ListedRun(
            shown["Name"],
            JobStep(self.region, self.cluster_id, shown["Id"]),
            status["State"],
            status.get("FailureDetails", {}).get("Message", ""),
            created,
            times.get("EndDateTime") or times.get("StartDateTime") or created,
        )


def list_runs(consumer: Path, most: int) -> list[ListedRun]:
    """Return the newest runs of the jobs of a consumer's Terraform root, of any state.

    Raises:
        OperationError: the outputs of the root cannot be read, or EMR denies the call.
    """
    found = [each for place in _find_places(consumer) for each in _list_runs(place, most)]
    return sorted(found, key=lambda each: each.created_at, reverse=True)[:most]


def find_run(consumer: Path, run_id: str) -> ListedRun:
    """Return the job run or step with this id.

    Raises:
        OperationError: there is none; or as of `list_runs`.
    """
    places = _find_places(consumer)
    for place in places:
        for each in _list_runs(place):
            if each.run.id == run_id:
                return each
    known = ", ".join(map(str, places))
    raise OperationError(f"found no run {run_id} in {known}; `penstock jobs list` prints their ids")


def _list_runs(place: _Place, most: int | None = None) -> Iterator[ListedRun]:
    try:
        yield from islice(place.list_runs(), most)
    except (ClientError, BotoCoreError) as error:
        raise OperationError(f"the runs of {place} cannot be listed: {error}") from error


def _find_places(consumer: Path) -> list[_Place]:
    return list(dict.fromkeys(map(_find_place, read_commands(consumer).values())))


def _find_place(command: str) -> _Place:
    words = shlex.split(command)
    if words[:3] == ADD_STEPS:
        options = dict(zip(words[3::2], words[4::2], strict=True))
        return _Place(options["--region"], cluster_id=options["--cluster-id"])
    request = read_request(command)
    return _Place(request["region"], application_id=request["applicationId"])
