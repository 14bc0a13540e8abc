"""The rate of rows is limited, and unused time is not credited."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

import pytest

from penstock.consuming import KnownSchemas, Pace
from penstock.errors import (
    RowTooLargeError,
    SinkAccessDeniedError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.framing import FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.records import Mode, RowShape
from penstock.schemas import encode
from penstock.spark.failures import raise_sink_error
from penstock.spark.sinks import records
from tests.stubs.clock import FakeTime
from tests.stubs.consuming import FakeErrors

_SCHEMA = {"type": "record", "name": "event", "fields": [{"name": "id", "type": "string"}]}
_KEY = SchemaKey(FrameKind.GLUE, bytes(16))
_SCHEMAS = KnownSchemas({_KEY: (json.dumps(_SCHEMA), "event", 1)})
_SHAPE = RowShape(("id",), sort_name=None, event_time=None, mode=Mode.UPSERT)
_ROW = {
    "topic": "t", "partition": 0, "offset": 0, "key": None, "timestamp_ms": 0,
    "value": encode_glue_frame(_KEY, encode({"id": "a"}, _SCHEMA)),
}  # fmt: skip


def test_rows_take_their_time_even_if_they_are_the_last() -> None:
    time = FakeTime()
    pace = Pace(50, sleep=time.sleep, clock=time.clock)

    for rows in (100, 25):
        pace.wait(rows)

    assert time.pauses == [2, 0.5]


def test_the_time_that_writing_took_counts_and_more_is_not_credited() -> None:
    time = FakeTime()
    pace = Pace(50, sleep=time.sleep, clock=time.clock)
    for seconds in (1.5, 60, 0):
        time.now += seconds
        pace.wait(100)

    assert time.pauses == [0.5, 2]


def test_many_small_tasks_keep_the_rate() -> None:
    """Each one has a pace of its own, and few rows."""
    time = FakeTime()
    for _ in range(500):
        Pace(1_000, sleep=time.sleep, clock=time.clock).wait(100)

    assert sum(time.pauses) == pytest.approx(50)


class Slot(FakeTime):
    """A core of an executor, which runs one task after the other; all slots share `written`."""

    shape, columns, errors, after_write = _SHAPE, None, FakeErrors(), None

    def __init__(self, begins: float, written: list[tuple[float, int]]) -> None:
        super().__init__(begins)
        self.rows_per_second: float | None = None
        self._written = written

    def load_keys(self) -> None:
        """There are no keys."""

    def open_writer(self) -> Slot:
        """It is its own."""
        return self

    def write(self, rows: Iterable[object]) -> dict[int, SinkRefusedError]:
        self._written.append((self.now, len(list(rows))))
        return {}


@pytest.mark.parametrize(
    ("partitions", "slots"),
    [(1, [0]), (50, [0] * 50), (50, [0]), (50, [0, 0, *range(1, 49)]), (8, [0, 500, 500, 1_000])],
    ids=["one", "all at once", "one after the other", "more and more", "executors come late"],
)
@pytest.mark.parametrize("rows", [7, 1_030])
def test_the_rate_holds_for_all_tasks_together(monkeypatch, partitions, slots, rows) -> None:
    """At every moment: what is written is the rate's share of the time, and a chunk of each task.

    Counted on clocks that only pauses move, so writing itself takes no time at all.
    """
    rate, written = 1_000, []
    running = [Slot(begins, written) for begins in slots]
    for _ in range(partitions):
        slot = min(running, key=Slot.clock)  # the next one that is free
        pace = partial(Pace, sleep=slot.sleep, clock=slot.clock)
        monkeypatch.setattr(records, "Pace", pace)
        slot.rows_per_second = rate
        tables = {"": records.RecordTables({"": slot}, _SCHEMAS, Framing())}
        (counts,) = records.WriteRecords(tables, {}, partitions)([_ROW] * rows)
        assert counts["", ""].rows == rows

    total = 0
    for moment, count in sorted(written):
        total += count
        assert total <= rate * moment + 100 * partitions + 1e-6
    assert total == rows * partitions
    assert max(map(Slot.clock, running)) >= total / rate - 1e-6


def test_without_a_rate_nothing_waits() -> None:
    time = FakeTime()
    pace = Pace(None, sleep=time.sleep, clock=time.clock)

    for _ in range(9):
        pace.wait(10**9)

    assert time.pauses == []


@pytest.mark.parametrize("kind", [RowTooLargeError, SinkAccessDeniedError, SinkUnavailableError])
def test_a_sink_error_of_a_task_is_raised_on_the_driver(kind) -> None:
    told = RuntimeError(
        "Job aborted\n  File x\npenstock.errors.SinkError: first\n"
        f"penstock.errors.{kind.__name__}: DynamoDB said no\n\nDriver stacktrace:"
    )

    with pytest.raises(kind, match=r"^DynamoDB said no$") as caught:
        raise_sink_error(told)

    assert caught.value.__cause__ is told


def test_the_last_error_of_a_task_is_raised_not_its_cause() -> None:
    told = RuntimeError(
        "Job aborted\npenstock.errors.RowTooLargeError: found 401 KB\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "penstock.errors.SinkRefusedError: the row of app with id '7': found 401 KB\n\nDriver"
    )

    with pytest.raises(SinkRefusedError, match=r"^the row of app with id '7': found 401 KB$"):
        raise_sink_error(told)


def test_other_errors_of_a_task_are_left_to_the_caller() -> None:
    raise_sink_error(RuntimeError("ValueError: no"))
