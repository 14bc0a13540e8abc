"""The state of EMR: clusters, their steps, and the changes that wake a cluster."""

from __future__ import annotations

import secrets
import string
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

from localcloud.cloud import Cloud
from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.errors import LocalcloudError
from localcloud.jobs import JobRun, Place, Runner, RunState
from localcloud.services.events.rules import send_event

INVALID = "ValidationException"
UNKNOWN = "InvalidRequestException"
ACTIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
PAGES = Pages("Marker", "", 50, UNKNOWN, "{name} '{token}' is not valid.")
_LETTERS = string.ascii_uppercase + string.digits


def new_id(prefix: str) -> str:
    """Return an id as EMR writes them, such as j-1ABCDEFGHIJKL."""
    return prefix + "".join(secrets.choice(_LETTERS) for _ in range(13))


class ValidationFailedError(LocalcloudError):
    """A cluster cannot start; the message is EMR's, or says what is missing."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A code and message of a cluster's change of state."""

    code: str = ""
    message: str = ""

    def show(self) -> dict[str, str]:
        """Return it as the API does, without empty members."""
        shown = {"Code": self.code, "Message": self.message}
        return {name: value for name, value in shown.items() if value}


_NO_REASON = Reason()


@dataclass(slots=True)
class Step:
    """A step with its request and its runner; `started` when the cluster has taken it."""

    asked: dict[str, Any]
    runner: Runner
    started: bool = False

    @property
    def id(self) -> str:
        """The id of the step."""
        return self.run.id

    @property
    def run(self) -> JobRun:
        """The run with its states."""
        return self.runner.run

    def cancel(self, grace_seconds: float) -> bool:
        """Cancel the step, at once if it waits; return False if it has already ended."""
        accepted = self.run.cancel(grace_seconds)
        if accepted and not self.started:
            self.run.end_attempt(RunState.CANCELLED, "")
        return accepted


@dataclass(slots=True)
class Cluster:
    """A cluster; its thread takes the steps, and every change of them wakes it.

    `running` of its steps run now, at most `step_limit`.
    """

    id: str
    account: str
    region: str
    asked: dict[str, Any]
    place: Place
    folder: Path
    groups: list[dict[str, Any]]
    tags: dict[str, str]
    protected: bool
    idle_seconds: int | None
    step_limit: int
    running: int = 0
    state: str = "STARTING"
    reason: Reason = _NO_REASON
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    ready: datetime | None = None
    ended: datetime | None = None
    steps: list[Step] = field(default_factory=list)
    ending: tuple[str, Reason] | None = None
    changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @property
    def arn(self) -> str:
        """The ARN of the cluster."""
        return f"arn:aws:elasticmapreduce:{self.region}:{self.account}:cluster/{self.id}"

    @property
    def release(self) -> str:
        """The release label."""
        return str(self.asked.get("ReleaseLabel", ""))

    @property
    def keeps_alive(self) -> bool:
        """Whether it waits for more steps when none is left."""
        return bool(self.asked["Instances"].get("KeepJobFlowAliveWhenNoSteps", False))

    @property
    def log_uri(self) -> str:
        """The folder of its logs on S3, without a slash at the end; empty without logs."""
        return str(self.asked.get("LogUri", "")).rstrip("/")

    def go_to(self, state: str, reason: Reason = _NO_REASON) -> None:
        """Change the state and its times, and send the event."""
        if state == self.state:
            return
        self.state, self.reason = state, reason
        now = datetime.now(UTC)
        if state in {"RUNNING", "WAITING"}:
            self.ready = self.ready or now
        if state.startswith("TERMINATED"):
            self.ended = now
        detail = {
            "clusterId": self.id,
            "name": self.asked["Name"],
            "severity": "ERROR" if state == "TERMINATED_WITH_ERRORS" else "INFO",
            "state": state,
            "stateChangeReason": reason.show(),
            "message": f"Amazon EMR Cluster {self.id} ({self.asked['Name']}) is {state}",
        }
        send_event(self.account, self.region, "aws.emr", "EMR Cluster State Change", detail)

    def end(self, state: str, reason: Reason) -> None:
        """Ask the cluster to end in a state: its steps are cancelled."""
        with self.changed:
            if self.ending is None:
                self.ending = (state, reason)
            for step in self.steps:
                step.cancel(0)
            self.changed.notify_all()

    def next_step(self) -> Step | None:
        """Wait for the next step that may run; return None when the cluster is to end."""
        with self.changed:
            while self.ending is None:
                waiting = self._find_waiting()
                if waiting and self.running < self.step_limit:
                    waiting.started = True
                    self.running += 1
                    self.go_to("RUNNING")
                    return waiting
                if waiting or self.running:
                    self.changed.wait()
                elif not self.keeps_alive:
                    self.ending = ("TERMINATED", _completed(self.steps))
                else:
                    self._wait_idle()
            return None

    def leave_step(self) -> None:
        """Make room for another step, after one has ended."""
        with self.changed:
            self.running -= 1
            self.changed.notify_all()

    def wait_for_steps(self) -> None:
        """Wait for the ends of the steps that run."""
        with self.changed:
            self.changed.wait_for(lambda: not self.running)

    def _find_waiting(self) -> Step | None:
        return next(
            (
                step
                for step in self.steps
                if not step.started and step.run.state is RunState.SUBMITTED
            ),
            None,
        )

    def _wait_idle(self) -> None:
        self.go_to("WAITING", Reason("", "Cluster ready to run steps."))
        if not self.changed.wait(self.idle_seconds):
            self.ending = ("TERMINATED", Reason("USER_REQUEST", "Terminated when idle"))


def _completed(steps: list[Step]) -> Reason:
    failed = any(step.run.state is RunState.FAILED for step in steps)
    how = "Steps completed with errors" if failed else "Steps completed"
    return Reason("ALL_STEPS_COMPLETED", how)


class RunningClusters:
    """The threads of clusters, which end with localcloud."""

    def __init__(self) -> None:
        self._threads: list[tuple[Cluster, threading.Thread]] = []

    def start(self, cloud: Cloud, cluster: Cluster, work: Callable[[], None]) -> None:
        """Start a cluster in its own thread."""
        if not self._threads:
            cloud.on_stop(self.stop)
        thread = threading.Thread(target=work, name=f"cluster {cluster.id}", daemon=True)
        self._threads.append((cluster, thread))
        thread.start()

    def stop(self) -> None:
        """End the clusters and wait for them."""
        for cluster, _ in self._threads:
            cluster.end("TERMINATED", Reason("USER_REQUEST", "Terminated by user request"))
        for _, thread in self._threads:
            thread.join(20)


@dataclass(slots=True)
class Clusters:
    """The clusters of one account and region by id, including terminated ones."""

    by_id: dict[str, Cluster] = field(default_factory=dict)


_Answer: TypeAlias = Callable[[Call, Clusters], dict[str, Any]]


def cluster_operation(name: str) -> Callable[[_Answer], _Answer]:
    """Register a function for one operation, with checked parameters."""

    def register(function: _Answer) -> _Answer:
        @operation("emr", name)
        @wraps(function)
        def answer(call: Call) -> dict[str, Any]:
            check_params(call, INVALID)
            return function(call, call.cloud.state(Clusters, call.account, call.region))

        return function

    return register


def find_cluster(clusters: Clusters, cluster_id: str) -> Cluster:
    """Return a cluster by its id.

    Raises:
        AwsError: the account has no such cluster in the region.
    """
    if cluster_id not in clusters.by_id:
        raise AwsError(UNKNOWN, f"Cluster id '{cluster_id}' is not valid.")
    return clusters.by_id[cluster_id]
