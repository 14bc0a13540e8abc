"""How often and how long to try again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempts:
    """Doubling pauses, each up to a longest, that end when the total time is used up."""

    first_seconds: float
    longest_seconds: float
    total_seconds: float
    # Takes a pause and shortens it by chance, so that those who failed together part company.
    jitter: Callable[[float], float] = lambda pause: pause
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __iter__(self) -> Iterator[None]:
        """Yield at once for the first attempt, then after a pause for each further one."""
        deadline = self.clock() + self.total_seconds
        pause = self.first_seconds
        yield
        while self.clock() + pause <= deadline:
            self.sleep(self.jitter(pause))
            pause = min(2 * pause, self.longest_seconds)
            yield


def spread(pause: float) -> float:
    """Choose a pause between half of this one and all of it."""
    return pause * random.uniform(0.5, 1)  # noqa: S311  # spreads load, guards nothing
