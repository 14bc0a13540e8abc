"""A staging job of the sensor's events: they are joined, wait, are retried and parked.

An event waits for its approval, and an alert for an event. No topics match the patterns of
approvals and alerts: their rows are written here, as an earlier batch would have done.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from demo.accounts import REGION
from demo.rows import read_table
from localcloud.testing import wait_until
from penstock.extensions.staging import JoinTables, Role
from penstock.extensions.staging.configuration import load_plan
from penstock.records import FailedRecord, Record, Source, make_row
from penstock.sinks import DynamoDbClient, UpsertWriter
from tests.e2e.accounts import CONSUMER, Root
from tests.e2e.payments import STAGED

JOB = "review"
_DEVICE = "000001"
_KEY = ("deviceId", "timestamp")
_OF_AN_EVENT = {"columns": [*_KEY], "key": [*_KEY], "key_name": "event"}
_TABLES = [
    {
        "name": "events",
        "topics": ["sensor"],
        **_OF_AN_EVENT,
        "dependencies": [{"table": "approvals", "key": {name: name for name in _KEY}}],
        "final": "approved",
    },
    {"name": "approvals", "topic_pattern": "approvals-[0-9]+", **_OF_AN_EVENT},
    {
        "name": "alerts",
        "topic_pattern": "alerts-[0-9]+",
        "key": "alert",
        "dependencies": [{"table": "events", "key": {name: name for name in _KEY}}],
        "final": "confirmed",
    },
    STAGED,
]


@dataclass(frozen=True)
class Review:
    """The staging job of a consumer's account, and the events that its topic has, by key."""

    consumer: Root
    events: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, consumer: Root, rows: Iterable[dict[str, Any]]) -> Review:
        """Take the events of the table of readings."""
        found = [row for row in rows if row["deviceId"] == _DEVICE]
        return cls(consumer, {f"{_DEVICE}/{row['timestamp']}": row for row in found})

    def begin(self) -> None:
        """Approve the first event, and let an alert wait for it."""
        first, *_ = self.events
        self._write("approvals", first)
        self._write("alerts", first, alert="a-1")

    def end(self) -> None:
        """Approve the second event, and fire the schedule until nothing waits."""
        _, second, *_ = self.events
        self._write("approvals", second)
        name = _name(f"retry-{JOB}")

        def is_over() -> bool:
            if all({"doneAt", "parkedAt"} & row.keys() for row in self.waited().values()):
                return True
            self.consumer.local.ask(
                "fire-schedule", account=CONSUMER, region=REGION, group=name, schedule=name
            )
            return False

        wait_until("nothing waits", is_over, 300)

    def waited(self) -> dict[str, dict[str, Any]]:
        """Return the dead letters of joins of our device and of alerts, by the row that waited."""
        rows = read_table(self.consumer, _name(f"{JOB}-errors"), "id").values()
        waited = {row["driver"]: row for row in rows if row.get("stage") == "join"}
        own = ("alerts/", f"events/{_DEVICE}/")  # other tests send events of other devices
        return {name: row for name, row in waited.items() if name.startswith(own)}

    def finals(self, table: str, key: str) -> dict[str, dict[str, Any]]:
        """Return the rows of a final table, by their key."""
        return read_table(self.consumer, _name(table), key)

    def _write(self, name: str, event: str, **more: str) -> None:
        """Write a row as the job does, and join it if it is a driver's."""
        plan = load_plan(str(_write_plan(self.consumer)))
        staged = plan.table(name)
        fields = {"deviceId": _DEVICE, "timestamp": int(self.events[event]["timestamp"])}
        record = Record(Source(name, 0, 0), None, b"", (), int(time.time() * 1_000))
        row = make_row(staged.shape, fields | more, record, 1, "none")
        with patch.dict(os.environ, self.consumer.environ):
            joiner = JoinTables(
                _name("{table}"),
                _name(f"{JOB}_waiting"),
                _name(f"{JOB}-errors"),
                _name(f"parked-{CONSUMER}-{REGION}"),
            ).open(plan)
            UpsertWriter(DynamoDbClient(), _name(name), staged.shape).write([row])
            if staged.role is Role.DRIVER:
                joiner.join(
                    staged,
                    [(row, lambda failure: FailedRecord.of(record, failure, None, "spark"))],
                )


def make_staging_job(consumer: Root) -> dict[str, Any]:
    """Return the job for the input `jobs`; its schedule is fired by hand."""
    plan = str(_write_plan(consumer))
    staging = {"plan": plan, "retry_seconds": 1, "schedule": "rate(1 day)"}
    return {JOB: {"trigger": "available-now", "staging": staging}}


def _write_plan(consumer: Root) -> Path:
    path = consumer.folder / f"{JOB}.json"
    path.write_text(json.dumps({"tables": _TABLES}))
    return path


def _name(name: str) -> str:
    return f"penstock-analytics-{name}"
