"""A job run and its attempts: which state it is in, and whether it is tried again."""

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
    """Where a job run is in its life."""

    SUBMITTED = "SUBMITTED"
    PENDING = "PENDING"  # its application starts
    SCHEDULED = "SCHEDULED"  # what it is made of is fetched
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"

    @property
    def final(self) -> bool:
        """Whether nothing comes after it."""
        return self in {RunState.SUCCESS, RunState.FAILED, RunState.CANCELLED}


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How often a run that fails is tried: in all, or within an hour for one that never ends."""

    max_attempts: int | None = 1
    max_failed_per_hour: int | None = None

    def allows(self, attempts: int, failed_at: list[float], now: float) -> bool:
        """Say whether there is another attempt after the failures at these monotonic times."""
        if self.max_failed_per_hour is not None:
            lately = [when for when in failed_at if now - when < _HOUR_SECONDS]
            return len(lately) < self.max_failed_per_hour
        return self.max_attempts is None or attempts < self.max_attempts


@dataclass(slots=True)
class Attempt:
    """One try of a run."""

    number: int
    state: RunState = RunState.SUBMITTED
    details: str = ""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: datetime | None = None
    ended: datetime | None = None

    def go_to(self, state: RunState, details: str = "") -> None:
        """Take a step, and note when."""
        self.state, self.details = state, details[:_MAX_DETAILS]
        self.updated = datetime.now(UTC)
        if state is RunState.RUNNING:
            self.started = self.updated
        if state.final:
            self.ended = self.updated


class JobRun:
    """The attempts of a run, one after the other, and the wish that it end."""

    def __init__(self, run_id: str, rule: RetryRule, timeout_seconds: float | None) -> None:
        """Begin with an attempt that is submitted; without a time-out it may run for ever."""
        self.id = run_id
        self.created = datetime.now(UTC)
        self.attempts = [Attempt(1)]
        self.deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self.cancelling = threading.Event()
        self._rule = rule
        self._failed_at: list[float] = []
        self._end_driver: Callable[[float], None] | None = None
        self._grace_seconds = 0.0
        self._lock = threading.RLock()

    @property
    def attempt(self) -> Attempt:
        """The attempt that counts."""
        return self.attempts[-1]

    @property
    def state(self) -> RunState:
        """The state of the attempt that counts: never FAILED while there is another to come."""
        return self.attempt.state

    def go_to(self, state: RunState) -> None:
        """Take a step, unless it is being cancelled."""
        with self._lock:
            if not self.cancelling.is_set():
                self.attempt.go_to(state)

    def adopt(self, end_driver: Callable[[float], None]) -> None:
        """Run, with the way to end what runs: given seconds, it is killed after them."""
        with self._lock:
            self._end_driver = end_driver
            self.go_to(RunState.RUNNING)
            if self.cancelling.is_set():
                end_driver(self._grace_seconds)

    def cancel(self, grace_seconds: float) -> bool:
        """Ask it to end; false where it has ended already."""
        with self._lock:
            if self.state.final:
                return False
            if not self.cancelling.is_set():
                self.attempt.go_to(RunState.CANCELLING)
                self._grace_seconds = grace_seconds
                self.cancelling.set()
            if self._end_driver is not None:
                self._end_driver(grace_seconds)
            return True

    def end_attempt(self, state: RunState, details: str) -> bool:
        """Note how the attempt ended; true where another one has begun in the same moment."""
        with self._lock:
            self._end_driver = None
            if self.cancelling.is_set():
                state, details = RunState.CANCELLED, "JobRun CANCELLED successfully."
            self.attempt.go_to(state, details)
            if state is not RunState.FAILED:
                return False
            now = time.monotonic()
            self._failed_at.append(now)
            again = self._rule.allows(len(self.attempts), self._failed_at, now)
            if again:
                self.attempts.append(Attempt(self.attempt.number + 1))
            return again
