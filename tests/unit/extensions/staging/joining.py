"""A plan of a driver with two dependencies, its tables in memory, and a program that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from penstock.errors import Failure, ObjectMissingError
from penstock.extensions.staging import (
    Dependency,
    JoinCounts,
    Joiner,
    Retries,
    RetryCounts,
    Role,
    StagedTable,
    StagingPlan,
    UnjoinedTable,
    WaitingTable,
)
from penstock.records import FailedRecord, Mode, Record, RowShape, Source, make_deletion, make_row
from penstock.sinks import ParkedRecords, UpsertWriter
from tests.stubs.dynamodb_tables import DynamoDbTables

DELAY_SECONDS = 60
Written = tuple[dict[str, Any], Callable[[Failure], FailedRecord]]


def shape(*key: str, name: str | None = None) -> RowShape:
    return RowShape(key=key, key_name=name, sort_name=None, event_time=None, mode=Mode.UPSERT)


PLAN = StagingPlan(
    (
        StagedTable("customers", shape("customer"), topics=("customers",)),
        StagedTable("lines", shape("order", "line", name="id"), topics=("lines",)),
        StagedTable(
            "trips", shape("trip"), topics=("trips",), role=Role.DRIVER, final="done",
            dependencies=(
                Dependency("customers", (("customer", "buyer"),), "customer"),
                Dependency("lines", (("order", "order"), ("line", "line")), "line_row"),
            ),
        ),
    )
)  # fmt: skip


@dataclass
class MemoryStore:
    """A bucket in memory."""

    objects: dict[str, bytes] = field(default_factory=dict)

    def put(self, name: str, content: bytes) -> str:
        self.objects[name] = content
        return f"s3://parked/{name}"

    def get(self, where: str) -> bytes:
        try:
            return self.objects[where.removeprefix("s3://parked/")]
        except KeyError as error:
            raise ObjectMissingError(f"{where} is not there") from error


def open_tables(plan: StagingPlan, **options: Any) -> DynamoDbTables:
    """The DynamoDB tables of a plan, its errors and its waiting rows."""
    keys = {each.name: each.shape.table_key for each in plan.tables}
    keys |= {each.final: each.shape.table_key for each in plan.drivers() if each.final}
    return DynamoDbTables(
        {f"p-{name}": key for name, key in keys.items()}
        | {"errors": ("id",), "waiting": ("waitingFor", "driver")},
        **options,
    )


class World:
    """One program over the tables: stages records of a plan and joins them."""

    def __init__(
        self,
        tables: Any,
        plan: StagingPlan = PLAN,
        store: Any = None,
        new_token: Callable[[], str] | None = None,
    ) -> None:
        self.tables = tables
        self.plan = plan
        self.store = store or MemoryStore()
        self.now_s = 1_000
        self.value = b"{}"  # of each record
        numbers = count()
        token = new_token or (lambda: f"{id(self)}-{next(numbers)}")
        waiting = WaitingTable(tables, "waiting", clock=self.clock, new_token=token)
        self.errors = UnjoinedTable(tables, "errors", self.store, DELAY_SECONDS, clock=self.clock)
        self.joiner = Joiner(tables, plan, "p-{table}", waiting, self.errors)

    def clock(self) -> float:
        return self.now_s

    def stage(self, table: str, records: Iterable[tuple[Any, int]]) -> JoinCounts:
        """Stage events, or for text the deletion of its key, with their offsets, and join."""
        written, staged = self.write(table, records), self.plan.table(table)
        if staged.role is Role.DRIVER:
            return self.joiner.join(staged, written)
        awaited = self.joiner.find_awaited(staged, [row for row, _ in written])
        return self.joiner.release(awaited)

    def write(self, table: str, records: Iterable[tuple[Any, int]]) -> list[Written]:
        """Write the rows of events and deletions, and return them as they are joined."""
        staged = self.plan.table(table)
        written = []
        for event, offset in records:
            key, value = (event.encode(), None) if isinstance(event, str) else (None, self.value)
            record = Record(Source(table, 0, offset), key, value, (), 1_000 + offset)
            row = (
                make_deletion(staged.shape, record)
                if value is None
                else make_row(staged.shape, event, record, 1, "v1")
            )
            written.append((row, partial(self._give_up, record)))
        UpsertWriter(self.tables, f"p-{table}", staged.shape).write([row for row, _ in written])
        return written

    def retry(self, name: str, has_time: Callable[[], bool] = lambda: True) -> RetryCounts:
        """Run the retries that are due now."""
        counts = RetryCounts()
        retries = Retries(self.joiner, ParkedRecords(self.store), name)
        retries.run(int(self.clock()), has_time, counts)
        return counts

    def _give_up(self, record: Record, failure: Failure) -> FailedRecord:
        return FailedRecord(record, failure, None, "spark", int(self.clock() * 1_000))
