"""A job run and its attempts: the state, and the decision to retry."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

_HOUR_SECONDS = 3600
_MAX_DETAILS = 256


class RunState(StrEnum):
    """The states of a job run."""

    SUBMITTED = "SUBMITTED"
    PENDING = "PENDING"  # its application starts
    SCHEDULED = "SCHEDULED"  # its files are fetched
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"

    @property
    def final(self) -> bool:
        """Return whether the state is final."""
        return self in {RunState.SUCCESS, RunState.FAILED, RunState.CANCELLED}


@dataclass(frozen=True, slots=True)
class RetryRule:
    """The retry limit of a failed run: in total, or within an hour for a streaming job."""

    max_attempts: int | None = 1
    max_failed_per_hour: int | None = None

    def allows(self, attempts: int, failed_at: list[float], now: float) -> bool:
        """Return whether to retry after failures at these monotonic times."""
        if self.max_failed_per_hour is not None:
            lately = [when for when in failed_at if now - when < _HOUR_SECONDS]
            return len(lately) < self.max_failed_per_hour
        return self.max_attempts is None or attempts < self.max_attempts


@dataclass(slots=True)
class Attempt:
    """One attempt of a run."""

    number: int
    state: RunState = RunState.SUBMITTED
    details: str = ""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: datetime | None = None
    ended: datetime | None = None

    def go_to(self, state: RunState, details: str = "") -> None:
        """Change the state and the times."""
        self.state, self.details = state, details[:_MAX_DETAILS]
        self.updated = datetime.now(UTC)
        if state is RunState.RUNNING:
            self.started = self.updated
        if state.final:
            self.ended = self.updated


class JobRun:
    """The attempts of a run, one after the other, and the request to cancel it.

    It starts with a submitted attempt; without a timeout it may run forever. `tell` is called with
    the old and the new state of each change, except for a failure that a retry follows.
    """

    def __init__(
        self,
        run_id: str,
        rule: RetryRule,
        timeout_seconds: float | None,
        tell: Callable[[RunState, RunState], None] = lambda _old, _new: None,
    ) -> None:
        self.id = run_id
        self.created = datetime.now(UTC)
        self.attempts = [Attempt(1)]
        self.deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self.cancelling = threading.Event()
        self._rule = rule
        self._tell = tell
        self._failed_at: list[float] = []
        self._end_driver: Callable[[float], None] | None = None
        self._grace_seconds = 0.0
        self._lock = threading.RLock()

    @property
    def attempt(self) -> Attempt:
        """The current attempt."""
        return self.attempts[-1]

    @property
    def state(self) -> RunState:
        """The state of the current attempt: never FAILED while a retry follows."""
        return self.attempt.state

    def go_to(self, state: RunState) -> None:
        """Change the state unless the run is being cancelled."""
        with self._lock:
            if not self.cancelling.is_set():
                self._change(state)

    def adopt(self, end_driver: Callable[[float], None]) -> None:
        """Change to RUNNING; `end_driver` ends the driver and kills it after the given seconds."""
        with self._lock:
            self._end_driver = end_driver
            self.go_to(RunState.RUNNING)
            if self.cancelling.is_set():
                end_driver(self._grace_seconds)

    def cancel(self, grace_seconds: float) -> bool:
        """Cancel the run; return False if it has already ended."""
        with self._lock:
            if self.state.final:
                return False
            if not self.cancelling.is_set():
                self._change(RunState.CANCELLING)
                self._grace_seconds = grace_seconds
                self.cancelling.set()
            if self._end_driver is not None:
                self._end_driver(grace_seconds)
            return True

    def end_attempt(self, state: RunState, details: str) -> bool:
        """Record the end of the attempt; return True if a retry has started."""
        with self._lock:
            self._end_driver = None
            if self.cancelling.is_set():
                state, details = RunState.CANCELLED, "JobRun CANCELLED successfully."
            if state is RunState.FAILED and self._may_retry():
                self.attempt.go_to(state, details)
                self.attempts.append(Attempt(self.attempt.number + 1))
                return True
            self._change(state, details)
            return False

    def _may_retry(self) -> bool:
        now = time.monotonic()
        self._failed_at.append(now)
        return self._rule.allows(len(self.attempts), self._failed_at, now)

    def _change(self, state: RunState, details: str = "") -> None:
        old = self.attempt.state
        self.attempt.go_to(state, details)
        self._tell(old, state)
