"""Retries with exponential backoff and jitter, and calls that a caller may cease to wait for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import TypeVar

_Answer = TypeVar("_Answer")


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def _read_clock() -> float:
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Attempts:
    """Exponential backoff: pauses double up to the longest, until the total time is used up.

    With `jitter`, each one lasts a random part of it, at least half. So clients
    that were throttled together do not retry together.
    """

    first_seconds: float
    longest_seconds: float
    total_seconds: float
    jitter: bool = False
    # Not the functions of `time` themselves, in whose place a simulation puts its own.
    sleep: Callable[[float], None] = _sleep
    clock: Callable[[], float] = _read_clock

    def __iter__(self) -> Iterator[None]:
        """Yield immediately for the first attempt, then after a pause for each retry."""
        deadline = self.clock() + self.total_seconds
        pause = self.first_seconds
        yield
        while self.clock() + pause <= deadline:
            # Jitter needs no cryptographic random numbers.
            self.sleep(pause * random.uniform(0.5, 1) if self.jitter else pause)  # noqa: S311
            pause = min(2 * pause, self.longest_seconds)
            yield


def start_call(call: Callable[[], _Answer]) -> Future[_Answer]:
    """Start a call in a thread of its own, and return its outcome.

    Its caller waits as long as it has time. Python waits for the threads of an executor when a
    process ends, and not for this one.
    """
    outcome: Future[_Answer] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    return outcome
