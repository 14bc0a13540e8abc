"""Drivers of one Spark job, of which one at a time may use the checkpoint.

What Spark does is simulated: the files of a checkpoint, and batches in parts. The lease, the
fences, the markers of parts and the sink's decisions are the code that ships.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from penstock.errors import CheckpointInUseError, LakeHistoryError, PenstockError
from penstock.sinks import DynamoDbClient
from penstock.spark.lake.expiration import expire_snapshots
from penstock.spark.rows import while_held
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.base import Part
from penstock.spark.state.lease import LEASE_PREFIX, Lease, claim_checkpoint, name_lease
from penstock.tables import BatchId
from tests.simulation.lake import LakeDownError, Rows, SimulatedLake, SimulatedTable, TableView
from tests.simulation.scheduler import Program, Scheduler
from tests.simulation.weather import Weather
from tests.stubs.dynamodb_tables import DynamoDbTables

CHECKPOINT = "s3://jobs/checkpoint"
ERRORS, OTHER_ERRORS = "errors", "other-errors"  # the second copy names another table
SETTINGS = LeaseSettings(lease_seconds=60, heartbeat_seconds=20)
_LOOK_SECONDS, _LIFE_SECONDS, _COPY_SECONDS, _RECORD_SECONDS = 30, 400, 500, 15
_LONGEST_STALL, _LATE_SECONDS = 240.0, 25.0
_KEPT_SECONDS, _REPAIR_SECONDS = 600.0, 60.0
_OFTEN, _SELDOM, _STRANGE = 0.5, 0.3, 0.1
_REPAIR = re.compile(r"SET TBLPROPERTIES \('([^']+)' = '(.+?)'\)")


class _Event:
    """An event for which a program sleeps."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def wait(self, seconds: float) -> None:
        if not self._is_set:
            self._sleep(seconds)


@dataclass
class _Query:
    """A query that ends when its driver says so."""

    sleep: Callable[[float], None]
    is_over: bool = False

    def awaitTermination(self, seconds: float) -> bool:
        self.sleep(seconds)
        return self.is_over


@dataclass
class _Files:
    """The files beside a checkpoint; each is written once."""

    weather: Weather
    texts: dict[str, str]

    def read(self, name: str) -> str | None:
        if trouble := self.weather.call("s3"):
            raise LakeDownError(trouble)
        return self.texts.get(name)

    def write(self, name: str, text: str) -> None:
        if trouble := self.weather.call("s3"):
            raise LakeDownError(trouble)
        if self.texts.setdefault(name, text) != text:
            raise CheckpointInUseError(name)


@dataclass
class Checkpoint:
    """The files that Spark keeps of a query: the end of each batch, and which batches are done."""

    query: str
    start: int = 0
    ends: list[int] = field(default_factory=list)
    done: int = 0

    def copy(self) -> Checkpoint:
        """Return a copy, as a backup is."""
        return Checkpoint(self.query, self.start, list(self.ends), self.done)


@dataclass
class Jobs:
    """The programs over one checkpoint, and all that goes wrong with them."""

    scheduler: Scheduler
    weather: Weather
    open_client: Callable[[DynamoDbTables], DynamoDbClient]
    records: int = 0
    problems: list[str] = field(default_factory=list)
    is_ending: bool = False

    def __post_init__(self) -> None:
        """Begin with an empty table."""
        self.tables = _LeaseTables({ERRORS: ("id",), OTHER_ERRORS: ("id",)})
        self.tables.before_change = self._meet
        self.tables.after_change = self.watch
        self.table = SimulatedTable(self.weather, lambda: self.scheduler.now)
        self.checkpoint = Checkpoint("q0")
        self._backup = self.checkpoint.copy()
        self._texts: dict[str, str] = {}
        self._beaten: tuple[Any, Any, float] = (None, None, 0.0)
        self._drivers: set[Program] = set()
        self._is_stopped = False
        self._ended: set[Any] = set()  # runs that gave the lease back

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put programs and files of the simulation in the place of those of a driver."""
        lease, sleep = "penstock.spark.state.lease", self.scheduler.sleep
        threads = SimpleNamespace(
            Lock=nullcontext, Event=lambda: _Event(sleep), Thread=partial(_Thread, self.scheduler)
        )
        with (
            patch(f"{lease}.threading", threads),
            patch(f"{lease}.DynamoDbClient", lambda: self.open_client(self.tables)),
            patch(f"{lease}.StateFiles", lambda *_: _Files(self.weather, self._texts)),
            patch(f"{lease}.atexit", SimpleNamespace(register=lambda *_: None)),
            patch(f"{lease}._clock", lambda: self.scheduler.now),
        ):
            yield

    def start(self) -> None:
        """Start all programs."""
        self.scheduler.start("records", self._write_records)
        self.scheduler.start("job", partial(self._supervise, ERRORS, 5.0))
        self.scheduler.start("second copy", partial(self._supervise, OTHER_ERRORS, _COPY_SECONDS))
        self.scheduler.start("maintenance", self._maintain)

    def _write_records(self) -> None:
        chance = self.scheduler.random
        while not self.is_ending:
            self.scheduler.sleep(chance.expovariate(1 / _RECORD_SECONDS))
            self.records += chance.randint(1, 5)

    def _supervise(self, errors: str, pause: float) -> None:
        """Start a driver again and again; it is killed, stalls, or ends by an error."""
        chance, is_copy = self.scheduler.random, errors == OTHER_ERRORS
        while not (is_copy and self.is_ending):
            self.scheduler.sleep(chance.expovariate(1 / pause))
            if self._is_stopped:
                continue
            driver = self.scheduler.start("driver", partial(self._drive, errors))
            self._drivers.add(driver)
            while not self.scheduler.wait(driver, _LOOK_SECONDS):
                if driver.is_killed:
                    break
                is_left = self.weather.is_calm and not is_copy
                if is_left or chance.random() > _LOOK_SECONDS / _LIFE_SECONDS:
                    continue
                if is_copy or not self.weather.happens("driver stalls", 0.5):
                    self.weather.fired["driver killed"] += 1
                    driver.kill()
                    break
                driver.stall_until = self.scheduler.now + chance.uniform(1, _LONGEST_STALL)
            self._drivers.discard(driver)
            self._judge(driver.error)

    def _judge(self, error: BaseException | None) -> None:
        """Do what an operator does after a driver has ended."""
        if error is None or isinstance(error, CheckpointInUseError | LakeDownError):
            pass
        elif isinstance(error, LakeHistoryError):
            self.weather.fired["table repaired"] += 1
            self._repair(str(error))
        elif not isinstance(error, PenstockError) or not error.retriable:
            raise error
        if self._is_stopped:
            return
        if not self._drivers and self.weather.happens("checkpoint restored", _STRANGE):
            self.checkpoint = self._backup
        elif self.weather.happens("checkpoint copied", _SELDOM):
            self._backup = self.checkpoint.copy()

    def _repair(self, said: str) -> None:
        """Follow the words of an error, when no driver runs and no commit is under way."""
        self._is_stopped = True
        for driver in self._drivers:
            driver.kill()
        self.scheduler.sleep(_REPAIR_SECONDS)
        self._is_stopped = False
        table, checkpoint = self.table.metadata, self.checkpoint
        answers = _REPAIR.findall(said)
        number = int(said.split(" of batch ")[1].split(maxsplit=1)[0]) if answers else -1
        if number >= len(checkpoint.ends):
            return  # the words are of a checkpoint that is used no more
        if not answers or max(table.rows, default=-1) >= checkpoint.ends[number]:
            assert "start again with an empty checkpoint" in said, said
            self._start_anew()
            return
        if not self.weather.fired["expired by another tool"]:
            self.problems.append(f"no other tool expired snapshots: {said}")
        (name, none), (_, whole) = answers
        wanted = {row for part in self._parts_of(checkpoint, number) for row in part}
        text, rows = whole, table.rows
        if not wanted <= set(rows):
            text, rows = none, tuple(row for row in rows if row not in wanted)
        properties = {**table.properties, name: text}
        self.table.metadata = replace(table, properties=properties, rows=rows)

    def _start_anew(self) -> None:
        """Begin with an empty checkpoint; rows of a batch that is not whole are deleted."""
        table = self.table.metadata
        begin = next(at for at in range(self.records + 1) if at not in table.rows)
        self.table.metadata = replace(table, rows=tuple(row for row in table.rows if row < begin))
        self.checkpoint = Checkpoint(f"q{self.scheduler.turns}", begin)
        self._backup = self.checkpoint.copy()

    def _drive(self, errors: str) -> None:
        checkpoint = self.checkpoint
        with claim_checkpoint(None, CHECKPOINT, errors, SETTINGS) as lease:  # type: ignore[arg-type]
            query = _Query(self.scheduler.sleep)
            lease.keep_for(query)  # type: ignore[arg-type]
        try:
            self._stream(checkpoint, _Watched(lease, self))
        finally:
            query.is_over = True

    def _stream(self, checkpoint: Checkpoint, fence: _Watched) -> None:
        chance, sink = self.scheduler.random, SimulatedLake(self.table, fence)
        while checkpoint is self.checkpoint:
            number = checkpoint.done
            if number == len(checkpoint.ends):
                end = self.records
                if end == (checkpoint.ends or [checkpoint.start])[-1]:
                    self.scheduler.sleep(chance.uniform(1, 30))
                    continue
                self._write_file()
                if number != len(checkpoint.ends):
                    raise CheckpointInUseError("another driver began the batch")
                checkpoint.ends.append(end)
            fence.check()
            parts = self._parts_of(checkpoint, number)
            batch = BatchId(checkpoint.query, number, f"{parts[0][:1]}-{checkpoint.ends[number]}")
            for place, rows in enumerate(parts):
                with while_held(fence):
                    sink.write(rows, Part(batch, place))  # type: ignore[arg-type]
            self._write_file()
            checkpoint.done = max(checkpoint.done, number + 1)

    def _meet(self, request: dict[str, Any]) -> None:
        """Let a lease be taken late, after a driver that stalled for as long has gone on."""
        is_taken = "#holder = :me" in request["UpdateExpression"]
        stalled = [each for each in self._drivers if each.stall_until > self.scheduler.now]
        if is_taken and stalled and self.weather.happens("lease taken late", _OFTEN):
            for driver in stalled:
                driver.stall_until = 0.0
            self.scheduler.sleep(self.scheduler.random.uniform(0, _LATE_SECONDS))

    def _write_file(self) -> None:
        if trouble := self.weather.call("s3"):
            raise LakeDownError(trouble)

    def _parts_of(self, checkpoint: Checkpoint, number: int) -> list[Rows]:
        """Return the records of a batch by part, the same whenever it comes."""
        first = checkpoint.ends[number - 1] if number else checkpoint.start
        count = number % 3 + 1
        return [Rows(range(first + at, checkpoint.ends[number], count)) for at in range(count)]

    def _maintain(self) -> None:
        """Expire snapshots, now and then as another tool does: it records nothing of them."""
        chance = self.scheduler.random
        while True:
            self.scheduler.sleep(chance.expovariate(1 / _KEPT_SECONDS))
            before_ms = int(1_000 * (self.scheduler.now - chance.uniform(0, _KEPT_SECONDS)))
            try:
                table: Any = TableView(self.table)
                table.rewrite()
                if self.weather.happens("expired by another tool", _SELDOM):
                    table.expire(before_ms)
                else:
                    expire_snapshots(table, before_ms)
            except LakeDownError:
                continue

    def holder(self) -> dict[str, Any]:
        """Return the row of the lease, as it is now."""
        key = {"id": {"S": f"{LEASE_PREFIX}{name_lease(CHECKPOINT)}"}}
        return self.tables.tables[self._texts["table"]].get(key) or {}

    def watch(self) -> None:
        """See that a lease is only taken from a holder that was silent for all of its length."""
        if "table" not in self._texts or "holder" not in (row := self.holder()):
            self._ended.add(self._beaten[0])
            self._beaten = (None, None, 0.0)
            return
        holder, beat = row["holder"]["S"], row["beat"]["N"]
        before, last, since = self._beaten
        if (holder, beat) == (before, last):
            return
        if before not in {None, holder, *self._ended}:
            silent = self.scheduler.now - since
            if silent < SETTINGS.lease_seconds:
                self.problems.append(f"a lease was taken after {silent:.0f} s of silence")
        self._beaten = holder, beat, self.scheduler.now

    def check(self) -> Iterator[str]:
        """Yield a sentence for each record that is not in the table once, and what was seen."""
        yield from self.problems
        rows = self.table.metadata.rows
        if missing := set(range(self.records)) - set(rows):
            yield f"{len(missing)} records are not in the lake, such as {min(missing)}"
        if twice := sorted(rows)[: len(rows)] != sorted(set(rows)):
            yield f"the lake has {len(rows) - len(set(rows))} rows too many: {twice}"
        if self.table.fences != sorted(self.table.fences):
            yield f"a driver wrote after another one had taken over: {self.table.fences}"


class _LeaseTables(DynamoDbTables):
    """Tables of leases, which tell of each change before and after it."""

    before_change: Callable[[dict[str, Any]], None]
    after_change: Callable[[], None]

    def _UpdateItem(self, request: dict[str, Any]) -> dict[str, Any]:
        self.before_change(request)
        done = super()._UpdateItem(request)
        self.after_change()
        return done


@dataclass
class _Watched:
    """A lease of which each check is checked: in the same moment, this run is the holder."""

    lease: Lease
    jobs: Jobs

    @property
    def fence(self) -> int:
        return self.lease.fence

    def check(self) -> None:
        self.lease.check()
        row = self.jobs.holder()
        if "holder" not in row or int(row["fence"]["N"]) != self.fence:
            self.jobs.problems.append(f"fence {self.fence} was fine, and the lease is {row}")


class _Thread:
    """A thread that is a program of the one that starts it."""

    def __init__(self, scheduler: Scheduler, target: Callable[[], None], **_: object) -> None:
        self._scheduler = scheduler
        self._target = target

    def start(self) -> None:
        self._program = self._scheduler.start("lease", self._target)

    def join(self, seconds: float) -> None:
        self._scheduler.wait(self._program, seconds)
