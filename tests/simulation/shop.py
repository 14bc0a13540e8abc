"""Trips that are joined with their customers and lines, whatever comes first, is late or dies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any
from unittest.mock import patch

from penstock.errors import PenstockError, RowExistsError
from penstock.sinks import DynamoDbClient, FunctionLease
from tests.simulation.bucket import SimulatedBucket
from tests.simulation.scheduler import Program, Scheduler
from tests.simulation.weather import LATEST_SECONDS, Weather
from tests.stubs.dynamodb_tables import DynamoDbTables
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

LEASES = "leases"
_CLOSE_SECONDS, _LATE_SECONDS = 4.0, 400.0
_BATCH = 8
_TASK_SECONDS, _RETRY_SECONDS = 120.0, 300.0
_RESERVE_SECONDS = 30.0
_LITTLE_SECONDS = 35.0  # for retries, of which the reserve leaves a few
_ROWS_AT_ONCE = 3
_SHORT, _BY_TWO = 0.05, 0.2
_WINDOW = 24  # trips that are sold again, or staged again
_NEW_SECONDS = 120.0  # after which a trip is sold for the last time
_NEVER = 8  # of so many customers, one is never sent
_GONE = 0.25  # of those in doubt stay deleted
_LONGEST_LIFE_SECONDS = 2_400.0
_EARLY_LINE = -1
_PAGE = 2  # rows of a query
_MOST_ATTEMPTS = 3


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
    _life: list[Program] = field(default_factory=list)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let retries read a few letters at once, so that some end between them."""
        with patch("penstock.extensions.staging.retry.ROWS_AT_ONCE", _ROWS_AT_ONCE):
            yield

    def start(self) -> None:
        """Start all programs."""
        self.scheduler.start("shop", self._sell)
        self.scheduler.start("shop", self._sell_in_doubt)
        self._begin_life()
        self.scheduler.start("second life", self._live_again)

    def _begin_life(self) -> None:
        numbers = range(2 if self.retries.are_made else 0)
        calls = [partial(self._stage_all, name) for name in self.topics]
        calls += [partial(self._retry_all, number) for number in numbers]
        self._life = [self.scheduler.start("job", each, is_own=True) for each in calls]

    def _live_again(self) -> None:
        """Now and then build all tables but the letters again, from the start of the topics."""
        self.scheduler.sleep(self.scheduler.random.uniform(0, _LONGEST_LIFE_SECONDS))
        if not self.weather.happens("tables built again", _BY_TWO):
            return
        for each in self._life:
            each.kill()
        self.scheduler.sleep(LATEST_SECONDS)
        for name, table in self.tables.tables.items():
            if name != "errors":
                table.parts.clear()
        self.positions.clear()
        self._begin_life()

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
        """Write trips whose customers come, are deleted, and may come back, at the same moment."""
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
            if chance.random() > _GONE:
                back = partial(self._send_late, "customers", {"customer": name})
                self.scheduler.start("late", back)

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
            elif self.weather.happens("staged again", _SHORT):
                self.positions[name] = max(0, start - chance.randrange(_WINDOW))
            else:
                self.positions[name] += len(batch)

    def _stage(self, name: str, records: list[tuple[Any, int]]) -> None:
        """Do what a task does, and the release after all of them."""
        self._open(self.open_client()).stage(name, records)

    def _retry_all(self, number: int) -> None:
        chance = self.scheduler.random
        while True:
            self.scheduler.sleep(chance.uniform(1, chance.choice([_CLOSE_SECONDS, _LATE_SECONDS])))
            seconds = chance.choice([_LITTLE_SECONDS, _RETRY_SECONDS])
            name = f"{number}-{self.scheduler.turns}"
            if self.weather.happens("retried by two", _BY_TWO):
                other = partial(self._retry, f"{name}-other", seconds)
                self.scheduler.start("other", partial(self._attempt, other, seconds))
            self._attempt(partial(self._retry, name, seconds), seconds)

    def _retry(self, name: str, seconds: float) -> None:
        client, context = self.open_client(), _Context(time.monotonic() + seconds)
        table = LEASES if self.retries is How.LEASED else ""
        released: Any = _LateReleases(client, self.tables, self.weather)
        lease = FunctionLease(table, released, clock=time.time)
        with lease.held_during(context) as is_held:
            if is_held:
                self._see_others()
                due, store = self._find_due(), _NotingStore(self.bucket)
                try:
                    counts = self._open(client, store).retry(name, context.has_time)
                    self.judge(due if counts.is_complete else [], store.put_names)
                finally:  # what is left is to release the lease
                    if self._at_work is self.scheduler.current:
                        self._at_work = None

    def _find_due(self) -> list[dict[str, Any]]:
        """Return the letters that are due now, as DynamoDB has them."""
        due = self.tables.tables["errors"].due.values()
        return [each for each in due if int(each["nextAttemptAt"]["N"]) <= time.time()]

    def judge(self, due: list[dict[str, Any]], names: set[str]) -> None:
        """See that a run has tried all that was due, and marked what it has put as parked."""
        table = self.tables.tables["errors"]
        self.problems += [
            f"the letter {each['id']} was due, and the retries left it"
            for each in due
            if table.get(each) == each
        ]
        for name in names:
            key = {"id": {"S": name.removeprefix("records/").removesuffix(".json")}}
            letter = table.get(key) or {"attempts": {"N": "0"}}
            is_settled = letter.keys() & {"parkedAt", "doneAt"}
            if not is_settled and int(letter["attempts"]["N"]) >= _MOST_ATTEMPTS:
                self.problems.append(f"{name} was parked, and its letter is {letter}")

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

    def _open(self, client: DynamoDbClient, store: _NotingStore | None = None) -> World:
        chance = self.scheduler.random
        return _Program(client, PLAN, store or self.bucket, lambda: f"{chance.getrandbits(64):x}")

    @property
    def is_done(self) -> bool:
        """Whether all records were staged."""
        return all(self.positions[name] == len(sent) for name, sent in self.topics.items())


class _Program(World):
    """A program of the plan, in simulated time."""

    def clock(self) -> float:
        return time.time()


@dataclass
class _LateReleases:
    """The client of a lease, whose release may be cut off, made again, and have its effect late."""

    client: DynamoDbClient
    tables: DynamoDbTables
    weather: Weather

    def call(self, operation: str, body: bytes) -> Any:
        """Make a call."""
        if b"REMOVE holder" in body and self.weather.happens("lease released late", _BY_TWO):
            self.weather.do_late(partial(self._make, operation, body))
        return self.client.call(operation, body)

    def _make(self, operation: str, body: bytes) -> None:
        with suppress(RowExistsError):
            self.tables.call(operation, body)


@dataclass
class _NotingStore:
    """The bucket as one run has it, with the names of the objects that it has put."""

    bucket: SimulatedBucket
    put_names: set[str] = field(default_factory=set)

    def put(self, name: str, content: bytes, content_type: str = "") -> str:
        """Write an object."""
        where = self.bucket.put(name, content, content_type)
        self.put_names.add(name)
        return where

    def get(self, where: str) -> bytes:
        """Read an object."""
        return self.bucket.get(where)


@dataclass
class _Context:
    """The part of Lambda's context that a lease reads."""

    until: float
    function_name: str = "retry"

    def get_remaining_time_in_millis(self) -> int:
        return int(1_000 * (self.until - time.monotonic()))

    def has_time(self) -> bool:
        return self.until - time.monotonic() > _RESERVE_SECONDS
