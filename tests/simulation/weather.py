"""What goes wrong between programs and the services that they call, and how often it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from tests.simulation.scheduler import Scheduler

_QUICK = (0.001, 0.03)  # seconds of an answer
_LAZY, _SOMETIMES = (0.03, 1.5), 0.1  # so that calls of others fall between two of one program
_SLOW = (1.0, 25.0)
_LAGGING = (0.2, 2.0)  # each call, for minutes
LATEST_SECONDS = 30.0  # seconds after which the effect of a late call has come


class Trouble(StrEnum):
    """What happens to one call."""

    LOST = "lost before its effect"
    CUT = "cut off after its effect"
    LATE = "cut off before its effect, which comes later"
    THROTTLED = "throttled"
    FAILED = "failed"
    DAMAGED = "answer damaged"
    DENIED = "denied"
    SLOW = "slow"
    ODD = "an error that nobody knows"


class Weather:
    """Decides what happens to each call; outages are of one service and last for minutes."""

    def __init__(self, scheduler: Scheduler, share: float) -> None:
        self._scheduler = scheduler
        self._share = share
        self._outages: dict[str, tuple[Trouble | None, float]] = {}
        self.is_calm = False
        self.fired: Counter[str] = Counter()

    def begin_outage(self, service: str, trouble: Trouble | None, seconds: float) -> None:
        """Let all calls of a service go wrong for some time; without a trouble, they lag."""
        self._outages[service] = trouble, self._scheduler.now + seconds

    def clear_up(self) -> None:
        """Let nothing go wrong from now on."""
        self.is_calm = True
        self._outages.clear()

    def happens(self, what: str, share: float) -> bool:
        """Return whether something rare happens now, and count it."""
        is_now = not self.is_calm and self._scheduler.random.random() < share
        self.fired[what] += is_now
        return is_now

    def call(self, service: str) -> Trouble | None:
        """Let the time of a call pass, and return what happens to it."""
        trouble = self._decide(service)
        chance = self._scheduler.random
        bounds = _LAZY if chance.random() < _SOMETIMES else _QUICK
        if trouble is Trouble.SLOW:
            bounds = _SLOW
        elif self._outages.get(service, ("", 0.0))[0] is None:
            bounds = _LAGGING
        self._scheduler.sleep(chance.uniform(*bounds))
        return trouble

    def do_late(self, call: Callable[[], object]) -> None:
        """Make a call in some seconds, also if the program that asks for it is dead by then."""

        def wait() -> None:
            self._scheduler.sleep(self._scheduler.random.uniform(0, LATEST_SECONDS))
            call()

        self._scheduler.start("late call", wait, is_own=True)

    def _decide(self, service: str) -> Trouble | None:
        if self.is_calm:
            return None
        trouble, until = self._outages.get(service, (None, 0.0))
        chance = self._scheduler.random
        if until <= self._scheduler.now:
            self._outages.pop(service, None)
            trouble = None
        if trouble is None:
            if chance.random() >= self._share:
                return None
            trouble = chance.choice([each for each in Trouble if each is not Trouble.DENIED])
        self.fired[f"{service}: {trouble}"] += 1
        return trouble
