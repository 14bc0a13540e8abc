"""No faster than was allowed."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Lets rows through at a rate, whatever they took so far; None is as fast as may be."""

    def __init__(
        self,
        rows_per_second: float | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin now."""
        self._rows_per_second = rows_per_second
        self._sleep = sleep
        self._clock = clock
        self._next = clock()

    def wait(self, rows: int) -> None:
        """Wait until these rows may go; time that was not used is not made up for."""
        if self._rows_per_second is None:
            return
        now = self._clock()
        if self._next > now:
            self._sleep(self._next - now)
        self._next = max(self._next, now) + rows / self._rows_per_second
