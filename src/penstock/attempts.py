"""Retries with exponential backoff and jitter, within a total time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


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
