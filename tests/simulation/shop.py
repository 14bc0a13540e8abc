"""Trips that are joined with their customers and lines, whatever comes first, is late or dies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from penstock.errors import PenstockError
from penstock.sinks import DynamoDbClient, FunctionLease
from tests.simulation.bucket import SimulatedBucket
from tests.simulation.scheduler import Program, Scheduler
from tests.simulation.weather import Weather
from tests.stubs.dynamodb_tables import DynamoDbTables
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

LEASES = "leases"
_CLOSE_SECONDS, _LATE_SECONDS = 4.0, 400.0
_BATCH = 8
_TASK_SECONDS, _RETRY_SECONDS = 120.0, 300.0
_RESERVE_SECONDS = 30.0
_SHORT, _BY_TWO = 0.05, 0.2
_WINDOW = 24  # trips that are sold again
_NEW_SECONDS = 120.0  # after which a trip is sold for the last time
_NEVER = 8  # of so many customers, one is never sent
_EARLY_LINE = -1
_PAGE = 2  # rows of a query


def make_shop_tables() -> DynamoDbTables:
    """Return the tables of the plan, and that of leases."""
    tables = open_tables(PLAN, page=_PAGE)
    tables.tables |= DynamoDbTables({LEASES: ("id",)}).tables
    return tables


class How(StrEnum):
    """How joins are tried again; where they are not, each trip is woken by what it waits for."""

    NEVER = "never"
    LEASED = "by one program at a time"
    AT_ONCE = "by several at once"

    @property
    def are_made(self) -> bool:
        """True if there are any."""
        return self is not How.NEVER


@dataclass
class Shop:
    """The topics of the plan, and the programs that write and read them."""

    scheduler: Scheduler
    weather: Weather
    tables: DynamoDbTables
    open_client: Callable[[], DynamoDbClient]
    bucket: SimulatedBucket
    retries: How
    topics: dict[str, list[Any]] = field(
        default_factory=lambda: {table.name: [] for table in PLAN.tables}
    )
    positions: Counter[str] = field(default_factory=Counter)
    is_ending: bool = False
    problems: list[str] = field(default_factory=list)
    _at_work: Program | None = None

    def start(self) -> None:
        """Start all programs."""
        self.scheduler.start("shop", self._sell)
        self.scheduler.start("shop", self._sell_in_doubt)
        for name in self.topics:
            self.scheduler.start("staging", partial(self._stage_all, name))
        for number in range(2 if self.retries.are_made else 0):
            self.scheduler.start("retries", partial(self._retry_all, number))

    def _sell(self) -> None:
        """Write trips, and what they need at any time before or after them."""
        chance = self.scheduler.random
        while not self.is_ending:
            self.scheduler.sleep(chance.expovariate(1 / 40))
            number = int(self.scheduler.now / _NEW_SECONDS) + chance.randrange(_WINDOW)
            trip = {"trip": f"t{number}", "buyer": f"c{number}", "order": "o"}
            lines = number + chance.randrange(_WINDOW)
            is_deletion = chance.random() < 0.1
            event = f"t{number}" if is_deletion else trip | {"line": lines}
            needs = [("lines", {"order": "o", "line": lines})]
            if number % _NEVER:
                needs.append(("customers", {"customer": f"c{number}"}))
            for topic, need in [("trips", event), *needs]:
                self.scheduler.start("late", partial(self._send_late, topic, need))

    def _sell_in_doubt(self) -> None:
        """Write trips whose customers come, are deleted and come back at the same moment."""
        chance = self.scheduler.random
        self.topics["lines"].append({"order": "o", "line": _EARLY_LINE})
        while not self.is_ending:
            self.scheduler.sleep(chance.expovariate(1 / 80))
            name = f"doubt-{self.scheduler.turns}"
            trip = {"trip": name, "buyer": name, "order": "o", "line": _EARLY_LINE}
            self.topics["trips"].append(trip)
            for _ in range(chance.randint(1, 5)):
                for event in ({"customer": name}, name):
                    self.scheduler.sleep(chance.uniform(0, chance.choice([0.1, 1])))
                    self.topics["customers"].append(event)
            self.scheduler.sleep(chance.uniform(0, 20))
            self.topics["customers"].append({"customer": name})

    def _send_late(self, topic: str, event: Any) -> None:
        chance = self.scheduler.random
        self.scheduler.sleep(chance.uniform(0, chance.choice([_CLOSE_SECONDS, _LATE_SECONDS])))
        self.topics[topic].append(event)

    def _stage_all(self, name: str) -> None:
        chance = self.scheduler.random
        while True:
            start = self.positions[name]
            most = chance.choice([1, 1, 2, _BATCH])
            records = list(enumerate(self.topics[name][start : start + most]))
            if not records:
                self.scheduler.sleep(chance.uniform(0.05, chance.choice([0.5, 15])))
                continue
            batch = [(event, start + place) for place, event in records]
            if self.weather.happens("staged by two", _SHORT):
                self.scheduler.start("other", partial(self._stage, name, batch))
            if not self._attempt(partial(self._stage, name, batch), _TASK_SECONDS):
                self.scheduler.sleep(chance.uniform(1, 10))
            elif not self.weather.happens("staged again", _SHORT):
                self.positions[name] += len(batch)

    def _stage(self, name: str, records: list[tuple[Any, int]]) -> None:
        """Do what a task does, and the release after all of them."""
        self._open(self.open_client()).stage(name, records)

    def _retry_all(self, number: int) -> None:
        chance = self.scheduler.random
        while True:
            self.scheduler.sleep(chance.uniform(30, 300))
            name = f"{number}-{self.scheduler.turns}"
            if self.weather.happens("retried by two", _BY_TWO):
                other = partial(self._retry, f"{name}-other")
                self.scheduler.start("other", partial(self._attempt, other, _RETRY_SECONDS))
            self._attempt(partial(self._retry, name), _RETRY_SECONDS)

    def _retry(self, name: str) -> None:
        client, context = self.open_client(), _Context(time.monotonic() + _RETRY_SECONDS)
        table = LEASES if self.retries is How.LEASED else ""
        lease = FunctionLease(table, client, clock=time.time)
        with lease.held_during(context) as is_held:
            if is_held:
                self._see_others()
                self._open(client).retry(name, context.has_time)
                self._at_work = None

    def _see_others(self) -> None:
        """See that no other invocation works, if a lease lets one work at a time."""
        other, self._at_work = self._at_work, self.scheduler.current
        if self.retries is How.LEASED and other and not (other.is_killed or other.is_done):
            self.problems.append("two invocations of the retries work at once")

    def _attempt(self, call: Callable[[], None], seconds: float) -> bool:
        """Call within a time-out, after which the program is ended; return whether it succeeded."""
        program = self.scheduler.start("attempt", call)
        if self.weather.happens("joins killed", _SHORT):
            seconds = self.scheduler.random.uniform(0, 1)
        if not self.scheduler.wait(program, seconds):
            program.kill()
            return False
        if isinstance(program.error, PenstockError) and program.error.retriable:
            return False
        if program.error is not None:
            raise program.error
        return True

    def _open(self, client: DynamoDbClient) -> World:
        chance = self.scheduler.random
        return _Program(client, PLAN, self.bucket, lambda: f"{chance.getrandbits(64):x}")

    @property
    def is_done(self) -> bool:
        """Whether all records were staged."""
        return all(self.positions[name] == len(sent) for name, sent in self.topics.items())


class _Program(World):
    """A program of the plan, in simulated time."""

    def clock(self) -> float:
        return time.time()


@dataclass
class _Context:
    """The part of Lambda's context that a lease reads."""

    until: float
    function_name: str = "retry"

    def get_remaining_time_in_millis(self) -> int:
        return int(1_000 * (self.until - time.monotonic()))

    def has_time(self) -> bool:
        return self.until - time.monotonic() > _RESERVE_SECONDS
