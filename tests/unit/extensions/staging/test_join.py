"""A driver's row waits for the rows that it needs, and becomes a final row when they are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from math import ceil
from typing import Any

import pytest

from penstock.errors import Reason, SinkRefusedError
from penstock.extensions.staging import JoinCounts, JoinEvent
from penstock.extensions.staging.join import read_name, write_name
from tests.stubs.dynamodb_tables import DynamoDbTables, EachCall, Table
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o/1", "line": 2}
_CUSTOMER = {"customer": "c1", "name": "Ada"}
_LINE = {"order": "o/1", "line": 2, "price": 1.5}


@pytest.fixture
def world() -> World:
    return World(open_tables(PLAN))


def test_a_driver_whose_dependencies_are_staged_becomes_a_final_row(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])
    world.tables.calls.clear()

    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.JOINED: 1}

    (driver,) = world.tables.rows("p-trips")
    assert world.tables.rows("p-done") == [
        driver | {"customer": _CUSTOMER, "line_row": _LINE | {"id": "o%2F1/2"}}
    ]
    assert world.tables.calls == {"PutItem": 2, "BatchGetItem": 2}
    assert world.tables.rows("errors") == []


def test_a_driver_that_lacks_rows_is_a_dead_letter_that_names_them(world: World) -> None:
    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.WAITING: 1}

    (row,) = world.tables.rows("errors")
    assert row == {
        "id": "trips/0/7/1007/join", "kafkaTimestamp": 1007, "reason": "unmet-dependency",
        "detail": "found no row customers/c1, lines/o%2F1/2, expected the rows that it"
        " depends on",
        "value": b"{}", "firstSeen": 1_000_000, "attempts": 0, "stage": "join",
        "nextAttemptAt": 1_060, "driver": "trips/t1",
        "waitingFor": ["customers/c1", "lines/o%2F1/2"],
    }  # fmt: skip
    waiting = {(each["waitingFor"], each["driver"]) for each in world.tables.rows("waiting")}
    assert waiting == {("customers/c1", "-"), ("customers/c1", "trips/t1")}
    assert world.tables.rows("p-done") == []


def test_an_arriving_row_releases_the_driver_or_lets_it_wait_for_the_next(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])

    assert world.stage("customers", [(_CUSTOMER, 1)]) == {}
    (row,) = world.tables.rows("errors")
    assert (row["waitingFor"], row["attempts"]) == (["lines/o%2F1/2"], 0)
    assert world.stage("lines", [(_LINE, 1)]) == {JoinEvent.RELEASED: 1}

    (final,) = world.tables.rows("p-done")
    assert final["customer"] == _CUSTOMER
    (row,) = world.tables.rows("errors")
    assert (row["doneAt"], "nextAttemptAt" in row) == (1_000_000, False)
    assert world.tables.rows("waiting") == []


def test_a_driver_that_is_overtaken_and_lacks_another_row_says_so(world: World) -> None:
    def stage_customer(operation: str) -> None:
        if operation == "BatchWriteItem":  # the driver waits for it now
            world.tables.before = lambda operation: None
            World(world.tables).stage("customers", [(_CUSTOMER, 1)])

    world.tables.before = stage_customer

    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.WAITING: 1}

    (row,) = world.tables.rows("errors")
    assert row["waitingFor"] == ["lines/o%2F1/2"]
    assert row["detail"].startswith("found no row lines/o%2F1/2, expected ")
    waiting = {(each["waitingFor"], each["driver"]) for each in world.tables.rows("waiting")}
    assert {row for row, driver in waiting if driver != "-"} == {"lines/o%2F1/2"}


def test_a_driver_whose_row_is_gone_is_left_to_the_retries(world: World) -> None:
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])
    world.tables.tables["p-trips"].delete({"trip": {"S": "t1"}})

    assert world.stage("customers", [(_CUSTOMER, 1)]) == {}

    (row,) = world.tables.rows("errors")
    assert "doneAt" not in row


def test_a_field_with_the_name_of_a_dependency_is_not_overwritten(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])

    assert world.stage("trips", [(_TRIP | {"customer": "c9"}, 7)]) == {Reason.UNROUTABLE: 1}

    assert world.tables.rows("p-done") == []
    (row,) = world.tables.rows("errors")
    assert (row["reason"], row["detail"]) == (
        "unroutable",
        "found the field 'customer', expected none with the name of the dependency on"
        " customers: rename one of them",
    )


def test_a_batch_that_comes_again_changes_nothing(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])
    world.stage("trips", [(_TRIP, 7)])
    assert len(world.tables.rows("errors")) == 1
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])
    before = world.tables.rows("p-done"), world.tables.rows("errors")

    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])

    assert (world.tables.rows("p-done"), world.tables.rows("errors")) == before


def test_a_deleted_row_counts_as_missing(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1), ("c1", 2)])
    world.stage("lines", [(_LINE, 1)])

    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.WAITING: 1}
    assert world.stage("customers", [(_CUSTOMER, 3)]) == {JoinEvent.RELEASED: 1}


def test_a_record_that_was_joined_does_not_wait_when_a_dependency_is_deleted(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])
    world.stage("customers", [("c1", 2)])

    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.JOINED: 1}

    assert world.tables.rows("errors") == []


def test_a_newer_version_of_a_joined_driver_waits(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])

    assert world.stage("trips", [(_TRIP | {"buyer": "c2"}, 8)]) == {JoinEvent.WAITING: 1}

    (row,) = world.tables.rows("errors")
    assert row["waitingFor"] == ["customers/c2"]
    assert world.stage("customers", [({"customer": "c2"}, 2)]) == {JoinEvent.RELEASED: 1}
    assert world.tables.rows("p-done")[0]["buyer"] == "c2"


def test_a_deleted_driver_deletes_its_final_row(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])

    world.stage("trips", [("t1", 8)])

    (final,) = world.tables.rows("p-done")
    assert (final["trip"], final["_deleted"], "customer" in final) == ("t1", True, False)


def test_a_newer_version_of_a_driver_takes_over_from_one_that_waits(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("trips", [(_TRIP, 7)])
    world.stage("lines", [(_LINE | {"line": 3}, 1)])

    assert world.stage("trips", [(_TRIP | {"line": 3}, 8)]) == {JoinEvent.JOINED: 1}
    assert world.stage("lines", [(_LINE, 2)]) == {}

    (final,) = world.tables.rows("p-done")
    assert final["line"] == 3
    (row,) = world.tables.rows("errors")
    assert (row["id"], "doneAt" in row) == ("trips/0/7/1007/join", True)


def test_an_older_version_of_a_driver_that_comes_late_is_left_to_the_newer(world: World) -> None:
    world.stage("trips", [(_TRIP | {"line": 3}, 8)])

    assert world.stage("trips", [(_TRIP, 7)]) == {}

    (row,) = world.tables.rows("errors")
    assert row["id"] == "trips/0/8/1008/join"


@pytest.mark.parametrize(("buyer", "shown"), [(None, "null"), ("", "''"), (0.5, "0.5")])
def test_a_driver_without_a_usable_key_of_a_dependency_is_a_dead_letter(
    world: World, buyer: object, shown: str
) -> None:
    assert world.stage("trips", [(_TRIP | {"buyer": buyer}, 7)]) == {"unroutable": 1}

    (row,) = world.tables.rows("errors")
    assert (row["stage"], row["driver"], row.get("waitingFor")) == ("join", "trips/t1", None)
    assert row["detail"] == f"found customer {shown}, expected a string or a whole number"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"buyer": "é" * 1_025}, "customer of 2050 bytes, expected a key of at most 2048"),
        ({"order": "x" * 2_047}, "id of 2049 bytes, expected a key of at most 2048"),
    ],
)
def test_a_key_of_a_dependency_that_no_table_can_have_is_a_dead_letter(
    world: World, change: dict[str, str], detail: str
) -> None:
    other = _TRIP | {"trip": "t2"}

    counts = world.stage("trips", [(_TRIP | change, 7), (other, 8)])

    assert counts == {"unroutable": 1, JoinEvent.WAITING: 1}
    assert world.tables.rows("errors")[0]["detail"] == f"found {detail}"


@pytest.mark.parametrize("number", [7, Decimal(7)])
def test_rows_whose_ids_are_numbers_are_joined(world: World, number: Any) -> None:
    trip = _TRIP | {"trip": number, "buyer": number}
    assert world.stage("lines", [(_LINE, 1)]) == {}

    assert world.stage("trips", [(trip, 7)]) == {JoinEvent.WAITING: 1}
    assert world.stage("customers", [(_CUSTOMER | {"customer": number}, 1)]) == {
        JoinEvent.RELEASED: 1
    }

    (final,) = world.tables.rows("p-done")
    assert (final["trip"], final["buyer"], final["_event"]) == ("7", 7, {"trip": 7})
    assert final["customer"] == _CUSTOMER | {"customer": "7"}
    assert world.stage("trips", [("7", 8)]) == {JoinEvent.JOINED: 1}
    assert [row["_deleted"] for row in world.tables.rows("p-done")] == [True]


def test_a_final_row_that_no_table_can_hold_is_a_dead_letter(world: World) -> None:
    world.stage("customers", [(_CUSTOMER | {"big": "x" * 250_000}, 1)])
    world.stage("lines", [(_LINE, 1)])

    counts = world.stage("trips", [(_TRIP | {"more": "x" * 250_000}, 7)])

    assert counts == {"oversize": 1}
    (row,) = world.tables.rows("errors")
    assert (row["reason"], row["stage"]) == ("oversize", "join")


@pytest.mark.parametrize("table", ["customers", "trips"])
def test_a_double_of_more_than_38_digits_is_joined(world: World, table: str) -> None:
    far = {table: {"limit": -1e40}}
    world.stage("customers", [(_CUSTOMER | far.get("customers", {}), 1)])
    world.stage("lines", [(_LINE, 1)])

    assert world.stage("trips", [(_TRIP | far.get("trips", {}), 7)]) == {JoinEvent.JOINED: 1}

    (final,) = world.tables.rows("p-done")
    assert (final["customer"] if table == "customers" else final)["limit"] == Decimal("-1E+40")


def test_a_waiting_table_that_rejects_an_item_stops_the_join(world: World) -> None:
    world.tables.tables["waiting"] = Table(("waitingFor", "sort"))

    with pytest.raises(SinkRefusedError, match="sort"):
        world.stage("trips", [(_TRIP, 7)])


def test_many_drivers_are_read_and_joined_100_at_a_time(world: World) -> None:
    world.stage("customers", [({"customer": f"c{n}"}, n) for n in range(250)])
    world.stage("lines", [(_LINE, 1)])
    world.tables.calls.clear()

    counts = world.stage(
        "trips", [(_TRIP | {"trip": f"t{n}", "buyer": f"c{n}"}, n) for n in range(250)]
    )

    assert counts == {JoinEvent.JOINED: 250}
    # Each hundred rows of the driver, then their dependencies: 101 of 100 drivers take two.
    assert world.tables.calls == {"PutItem": 500, "BatchGetItem": 3 + 5}


class _Held(EachCall):
    """A client that counts the items of the waiting table that were read and not deleted yet.

    `rounds` are the times that it waits for answers: one for 25 calls at the same time.
    """

    def __init__(self, tables: DynamoDbTables) -> None:
        self.attempts, self._call, self._now, self.most = tables.attempts, tables.call, 0, 0
        self.rounds = 0

    def call_each(self, operation: str, bodies: Iterable[bytes]) -> Iterator[Exception | None]:
        made = list(bodies)
        self.rounds += ceil(len(made) / 25) - len(made)
        return super().call_each(operation, made)

    def call(self, operation: str, body: bytes, read: Callable[[Any], Any] = dict) -> Any:
        self.rounds += 1

        def count(answer: dict[str, Any]) -> Any:
            self._now += len(answer.get("Items", ())) - (operation == "DeleteItem")
            self.most = max(self.most, self._now)
            return read(answer)

        return self._call(operation, body, count)


def test_a_storm_for_one_row_is_bounded_in_calls_and_in_what_is_held(
    world: World, trials: Callable[[int, int], int]
) -> None:
    many = trials(1_000, 20_000)
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(many)])
    world.tables.calls.clear()
    held = _Held(world.tables)

    assert World(held).stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: many}

    pages = many // 100 + 1  # with the marker
    assert world.tables.calls == {
        "PutItem": 1 + many,  # the row, and the final rows
        "UpdateItem": many,  # dead letters that are done
        "DeleteItem": many + 1,  # items of the waiting table, and the marker
        # The marker twice; by page the dead letters, the drivers and two dependencies.
        "BatchGetItem": 2 + pages * 3,
        "Query": pages,
    }
    assert held.most <= 100 + 1  # and the marker
    # By page: the query, three reads, and 100 final rows, dead letters and items, 25 at once.
    assert held.rounds <= 4 + pages * (1 + 3 + 3 * 4)
    assert world.tables.rows("waiting") == []


def test_a_storm_in_which_each_dependency_is_late_is_bounded(
    world: World, trials: Callable[[int, int], int]
) -> None:
    chunks, calls = trials(5, 200), world.tables.calls
    held = World(_Held(world.tables))

    def stage(table: str, make: Callable[[int], object]) -> JoinCounts:
        calls.clear()
        counts = JoinCounts()
        for first in range(0, 100 * chunks, 100):  # as the job does
            counts += held.stage(table, [(make(n), n) for n in range(first, first + 100)])
        return counts

    many = 100 * chunks
    assert stage("trips", lambda n: _TRIP | {"trip": f"t{n}", "buyer": f"c{n}", "line": n}) == {
        JoinEvent.WAITING: many
    }
    # By chunk: the drivers; twice 100 dependencies and 50 final rows; what is looked for again.
    assert calls == {
        "PutItem": 2 * many,
        "BatchGetItem": (1 + 2 * 2 + 1) * chunks,
        "BatchWriteItem": 8 * chunks,
    }
    assert stage("customers", lambda n: _CUSTOMER | {"customer": f"c{n}"}) == {}
    assert calls == {
        "PutItem": many,
        "Query": many,
        "BatchGetItem": 2 * chunks + 5 * many,
        "BatchWriteItem": 2 * many,
        "UpdateItem": many,
        "DeleteItem": 2 * many,
    }
    released = stage("lines", lambda n: _LINE | {"line": n})

    assert released == {JoinEvent.RELEASED: many}
    assert calls == {
        "PutItem": 2 * many,
        "Query": many,
        "BatchGetItem": 2 * chunks + 3 * many,
        "UpdateItem": many,
        "DeleteItem": 2 * many,
    }
    assert held.tables.most <= 1 + 1  # and its marker
    assert world.tables.rows("waiting") == []


@pytest.mark.parametrize("key", [(("trip", "a/b%"),), (("trip", "x"),)])
def test_a_name_is_read_back(key: tuple[tuple[str, str], ...]) -> None:
    table = PLAN.table("trips")

    assert read_name(PLAN, write_name(table, key)) == (table, key)
