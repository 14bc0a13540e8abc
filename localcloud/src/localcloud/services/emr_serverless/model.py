"""The state of EMR Serverless: applications and their job runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from localcloud.door.constraints import locked_operation
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.pages import Pages
from localcloud.jobs import JobRun, Runner
from localcloud.services.emr_serverless.capacity import ACCOUNT_IS_FULL, Occupied

INVALID = "ValidationException"
PAGES = Pages("nextToken", "maxResults", 50, INVALID)


@dataclass(frozen=True, slots=True)
class SubmittedRun:
    """A job run with its request, its caller and its runner."""

    arn: str
    asked_with: dict[str, Any] = field(repr=False)
    created_by: str
    tags: dict[str, str]
    runner: Runner

    @property
    def run(self) -> JobRun:
        """The run with its states."""
        return self.runner.run


@dataclass(slots=True)
class Application:
    """An application, with its runs by id, the oldest first."""

    id: str
    arn: str
    settings: dict[str, Any]
    tags: dict[str, str]
    asked_with: dict[str, Any]
    state: str = "CREATED"
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    runs: dict[str, SubmittedRun] = field(default_factory=dict)
    occupied: Occupied = field(default_factory=Occupied, repr=False)

    def go_to(self, state: str) -> None:
        """Change the state and its time."""
        self.state = state
        self.updated = datetime.now(UTC)


@dataclass(slots=True)
class Applications:
    """The applications of one account and region by id, including deleted ones."""

    by_id: dict[str, Application] = field(default_factory=dict)
    occupied: Occupied = field(default_factory=lambda: Occupied(ACCOUNT_IS_FULL), repr=False)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)


_Made = TypeVar("_Made", Application, SubmittedRun)


def find_by_token(params: dict[str, Any], made: Mapping[str, _Made], what: str) -> _Made | None:
    """Return what the same request created before; refuse another request with its token."""
    token = params["clientToken"]
    for known in made.values():
        if known.asked_with["clientToken"] == token:
            if known.asked_with != params:
                said = f"Client token {token} was used for {what} with other settings"
                raise AwsError("ConflictException", said)
            return known
    return None


application_operation = partial(locked_operation, "emr-serverless", INVALID, Applications)


def find_application(call: Call, applications: Applications) -> Application:
    """Return the application that a call names."""
    wanted = call.params.get("applicationId")
    if wanted is None:
        wanted = call.params["resourceArn"].partition("/applications/")[2].partition("/")[0]
    if wanted not in applications.by_id:
        raise AwsError("ResourceNotFoundException", f"Application {wanted} does not exist")
    return applications.by_id[wanted]


def find_run(application: Application, run_id: str) -> SubmittedRun:
    """Return a job run of an application."""
    if run_id not in application.runs:
        raise AwsError("ResourceNotFoundException", f"JobRun {run_id} does not exist")
    return application.runs[run_id]
