"""How often and how long to try again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempts:
    """Doubling pauses, each up to a longest, that end when the total time is used up.

    With `spread`, a pause is shortened by chance to between half and all of it, so that those who
    were turned away together do not come back together.
    """

    first_seconds: float
    longest_seconds: float
    total_seconds: float
    spread: bool = False
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __iter__(self) -> Iterator[None]:
        """Yield at once for the first attempt, then after a pause for each further one."""
        deadline = self.clock() + self.total_seconds
        pause = self.first_seconds
        yield
        while self.clock() + pause <= deadline:
            # Load is spread here, nothing is guarded: any generator will do.
            self.sleep(pause * random.uniform(0.5, 1) if self.spread else pause)  # noqa: S311
            pause = min(2 * pause, self.longest_seconds)
            yield
