"""Replays of dead letters, with a consumer in the place of Spark's batches."""

from __future__ import annotations

import json
import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

from penstock.errors import PenstockError
from penstock.records import Record, Source
from penstock.sinks import ErrorTable, ParkedRecords, Selection
from penstock.spark.query.replay import FailedAgain, Replay
from penstock.spark.state.lease import Lease
from tests.simulation.jobs import ERRORS as LEASES
from tests.simulation.jobs import SETTINGS
from tests.simulation.programs import ERRORS, READINGS, World

_PAUSES, _REPLAY_SECONDS = (5, 500), 400.0  # short ones, so that late calls meet the next replay
_LONGEST_PAUSE_SECONDS = 400.0  # so that each letter is tried when all is calm
_KILLED, _OPENED = 0.3, 0.2
_MOST_ATTEMPTS = 3
_KEPT_SECONDS = 365 * 86_400


class _Frame(list[tuple[Any, ...]]):
    """Rows of Spark that a replay makes of dead letters."""

    def selectExpr(self, *_: str) -> _Frame:
        return self


class _Spark:
    """The session of a replay, which makes frames of rows."""

    def createDataFrame(self, rows: list[tuple[Any, ...]], _: str) -> _Frame:
        return _Frame(rows)


@dataclass
class _Batches:
    """Batches that a consumer writes as Spark's tasks do."""

    world: World
    failed: FailedAgain
    deletes: bool = False

    def write_batch(self, frame: _Frame, _: object) -> None:
        records = [
            Record(Source(topic, partition, offset), key, value, tuple(headers), time_ms)
            for key, value, topic, partition, offset, time_ms, headers in frame
        ]
        self.world.open_consumer(READINGS, self.failed, "spark").consume(records)


@dataclass
class Replays:
    """Programs that try dead letters again, two of them, of which a lease lets one work."""

    world: World
    began: list[float] = field(default_factory=list)
    at_work: int = 0
    is_ending: bool = False

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let a task of a replay connect to the simulated table."""
        with patch("penstock.spark.query.replay._connect", self._open_errors):
            yield

    def start(self) -> None:
        """Start the programs."""
        for number in range(2):
            self.world.scheduler.start("replays", partial(self._run, number))

    def _run(self, number: int) -> None:
        scheduler, chance = self.world.scheduler, self.world.chance
        while True:
            pause = chance.expovariate(1 / chance.choice(_PAUSES))
            scheduler.sleep(min(pause, _LONGEST_PAUSE_SECONDS))
            if self.is_ending:
                return
            self._open_parked()
            self.at_work += 1
            program = scheduler.start(
                "replay", partial(self._replay, f"{number}-{scheduler.turns}")
            )
            seconds = _REPLAY_SECONDS
            if self.world.weather.happens("replay killed", _KILLED):
                seconds = chance.uniform(0, 2)
            if not scheduler.wait(program, seconds):
                program.kill()
            elif program.error is not None and not isinstance(program.error, PenstockError):
                raise program.error
            self.at_work -= 1

    def _open_parked(self) -> None:
        """Let an operator open parked letters again, one in two of which keeps its expiry."""
        changes = "SET attempts = :none, nextAttemptAt = :none REMOVE parkedAt"
        for letter in list(self.world.tables.tables[ERRORS].items()):
            if "parkedAt" in letter and self.world.weather.happens("letter opened", _OPENED):
                kept = self.world.chance.choice(["", ", expiresAt"])
                self.world.tables.call(
                    "UpdateItem",
                    json.dumps(
                        {
                            "TableName": ERRORS,
                            "Key": {"id": letter["id"]},
                            "UpdateExpression": changes + kept,
                            "ConditionExpression": "attribute_exists(parkedAt)",
                            "ExpressionAttributeValues": {":none": {"N": "0"}},
                        }
                    ).encode(),
                )

    def _replay(self, name: str) -> None:
        with Lease.claim(LEASES, "replay", SETTINGS):
            self.began.append(time.time())
            selection = Selection()
            batches: Any = _Batches(self.world, FailedAgain(ERRORS, name, selection))
            store: Any = self.world.bucket
            spark: Any = _Spark()
            rows = self._open_errors(ERRORS)
            Replay(spark, name, rows, batches, ParkedRecords(store)).run(selection)

    def _open_errors(self, table: str) -> ErrorTable:
        store: Any = self.world.bucket
        return ErrorTable(self.world.open_dynamodb(), table, store, clock=time.time)

    def check(self, letters: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Yield a sentence for each letter that was tried too often, or whose bytes are lost."""
        find: Callable[[str], bytes | None] = self.world.bucket.objects.get
        for name, letter in letters.items():
            attempts = letter["attempts"]
            tries = sum(
                each >= letter["firstSeen"] / 1_000 - _REPLAY_SECONDS for each in self.began
            )
            if attempts > min(tries, _MOST_ATTEMPTS):
                yield f"{name} failed {attempts} times in {tries} replays"
            if letter.keys() & {"parkedAt", "doneAt"}:
                kept_s = letter["expiresAt"] - letter["firstSeen"] // 1_000
                if kept_s < _KEPT_SECONDS:
                    yield f"{name} expires {kept_s} s after it was written"
            if "parkedAt" in letter:
                parked = find(letter["parkedAt"].removeprefix("s3://simulated/"))
                if parked is None or b64decode(json.loads(parked)["value"]) != letter["value"]:
                    yield f"{name} is parked as {parked!r}"
                if attempts < _MOST_ATTEMPTS:
                    yield f"{name} was parked after {attempts} attempts"
            elif "doneAt" not in letter and "expiresAt" in letter:
                yield f"{name} is open, and expires"
