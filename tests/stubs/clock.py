"""Time that passes when a test lets it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class FakeTime:
    """A clock that only sleeping moves, also in place of the module `time`."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.pauses.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        """Tell the time."""
        return self.now

    monotonic = clock
