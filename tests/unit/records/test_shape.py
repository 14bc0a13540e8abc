"""A shape says what names a row and what makes it newer, and refuses what contradicts itself."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SettingsError, UnroutableError
from penstock.records import (
    MAX_TIMESTAMP_MS,
    DeletedWhen,
    Mode,
    Record,
    RowShape,
    Source,
    Tombstone,
    check_key,
    find_row_key,
    make_deletion,
    make_row,
    write_key,
)

_MODULES = Path(__file__).parents[3] / "infra/modules"
_SOURCE = Source("orders", 2, 7)
_TIME = 1_795_234_015_788
_WRITTEN = "800001a1fc492a2c000000000000000700000002"  # time, offset and partition
_RECORD = Record(_SOURCE, b"o-1", None, (), _TIME)
_PLACE = {"_topic": "orders", "_source": "orders/2/7", "_schema": 1, "_schemaId": "id"}
_ORDERS = RowShape(("orderId",), sort_name=None, event_time=None, mode=Mode.UPSERT)


def _order(
    event: dict[str, Any], fields: tuple[str, ...] = ("a",), source: Source = _SOURCE, time: int = 0
) -> str:
    shape = RowShape(("id",), sort_name=None, event_time=None, order=fields, mode=Mode.UPSERT)
    record = Record(source, None, None, (), time)
    return str(make_row(shape, {"id": "x"} | event, record, 1, "id")["_order"])


def test_the_default_is_the_reading_of_a_sensor() -> None:
    shape = RowShape.from_environ({})

    assert shape == RowShape()
    assert shape.table_key == ("deviceId", "readingId")
    assert (shape.event_time, shape.mode, shape.tombstone) == ("timestamp", "append", "ignore")


def test_it_is_built_from_settings() -> None:
    shape = RowShape.from_environ(
        {
            "PENSTOCK_KEY": "shop, orderId",
            "PENSTOCK_KEY_NAME": "pk",
            "PENSTOCK_SORT": "line",
            "PENSTOCK_SORT_NAME": "line",
            "PENSTOCK_EVENT_TIME": "none",
            "PENSTOCK_ORDER": "version,at",
            "PENSTOCK_MODE": "upsert",
            "PENSTOCK_TOMBSTONE": "dead-letter",
            "PENSTOCK_DELETED_WHEN": "op=D,X",
        }
    )

    assert shape == RowShape(
        ("shop", "orderId"), "pk", ("line",), "line", None, ("version", "at"),
        Mode.UPSERT, Tombstone.DEAD_LETTER, deleted_when=DeletedWhen("op", ("D", "X")),
    )  # fmt: skip
    assert shape.table_key == ("pk", "line")


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"KEY": "a,b"}, "has several fields, expected PENSTOCK_KEY_NAME (--key-name)"),
        ({"KEY": "a,b", "KEY_NAME": "b"}, "to name an attribute that is none of them"),
        ({"KEY": "a,,b"}, "PENSTOCK_KEY is 'a,,b', expected fields of the event"),
        ({"KEY": "a,a"}, "PENSTOCK_KEY is 'a,a', expected fields of the event"),
        ({"SORT_NAME": "deviceId"}, "the partition key and the sort key are both named 'deviceId'"),
        ({"KEY_NAME": "readingId"}, "the partition key and the sort key are both named"),
        ({"KEY": "_topic"}, "the table's key is named '_topic', which Penstock adds to each row"),
        ({"KEY_NAME": "_order"}, "the table's key is named '_order', which Penstock"),
        ({"SORT_NAME": "_schema"}, "the table's key is named '_schema', which Penstock"),
        ({"KEY": "at", "EVENT_TIME": "at"}, "PENSTOCK_EVENT_TIME (--event-time) is the key 'at'"),
        ({"SORT_NAME": "none"}, "a table that is appended to needs PENSTOCK_SORT_NAME"),
        ({"SORT": "at"}, "PENSTOCK_SORT (--sort) is for --mode upsert, found --mode append"),
        ({"ORDER": "at"}, "PENSTOCK_ORDER (--order) is for --mode upsert, found --mode append"),
        ({"TOMBSTONE": "delete"}, "--tombstone delete is for --mode upsert, found --mode append"),
        ({"DELETED_WHEN": "op=D"}, "(--deleted-when) is for --mode upsert, found --mode append"),
        ({"DELETED_WHEN": "op"}, "PENSTOCK_DELETED_WHEN is 'op', expected in upsert mode, a field"),
        (
            {"KEY_FORMAT": "int", "KEY": "a,b", "KEY_NAME": "pk"},
            "PENSTOCK_KEY_FORMAT (--key-format) is int, expected one field in --key and no --sort",
        ),
        ({"MODE": "upsert"}, "or neither (none); found (), 'readingId'"),
        (
            {"MODE": "upsert", "SORT_NAME": "none", "TOMBSTONE": "delete", "ORDER": "at"},
            "by Kafka's timestamp and offset, expected no --order, and without --key-format one",
        ),
    ],
)
def test_a_contradiction_is_refused(environ: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(problem)):
        RowShape.from_environ({f"PENSTOCK_{name}": value for name, value in environ.items()})


def test_an_event_is_keyed_by_its_own_field() -> None:
    row = make_row(_ORDERS, {"orderId": "o-1", "readingId": 5, "_order": 1}, _RECORD, 1, "id")

    assert row.pop("_order") == _WRITTEN
    assert row == {"orderId": "o-1", "readingId": 5, "_event": {"_order": 1}, **_PLACE}
    assert write_key(_ORDERS, row) == b"o-1"


def test_several_fields_are_joined_and_no_two_keys_are_the_same() -> None:
    shape = RowShape(("a", "b"), "pk", sort_name="sk", event_time=None)
    events = [{"a": "x/y", "b": "z"}, {"a": "x", "b": "y/z"}, {"a": "x%2Fy", "b": "z"}]
    rows = [make_row(shape, {"pk": 1} | event, _RECORD, 1, "id") for event in events]

    assert [row["pk"] for row in rows] == ["x%2Fy/z", "x/y%2Fz", "x%252Fy/z"]
    assert rows[0]["_event"] == {"pk": 1}
    assert rows[0]["sk"] == f"{_TIME}-orders-2-7"
    assert make_row(shape, {"a": 1, "b": "z"}, _RECORD, 1, "id")["pk"] == "1/z"
    assert [write_key(shape, event).decode() for event in events] == [row["pk"] for row in rows]


@pytest.mark.parametrize("key", [17, Decimal(17), Decimal("17.00"), Decimal("1.7E+1")])
def test_a_key_that_is_a_whole_number_is_the_row_of_its_text(key: Any) -> None:
    row = make_row(_ORDERS, {"orderId": key, "state": "new"}, _RECORD, 1, "id")

    assert (row["orderId"], row["state"], row["_event"]) == ("17", "new", {"orderId": key})
    assert write_key(_ORDERS, {"orderId": key}) == b"17"
    assert find_row_key(_ORDERS, {"orderId": key}) == {"orderId": "17"}
    check_key(_ORDERS, {"orderId": key})
    text = make_row(_ORDERS, {"orderId": "17"}, _RECORD, 1, "id")
    assert (text["orderId"], "_event" in text) == ("17", False)


def test_whole_numbers_are_parts_of_a_key_and_its_sort_key() -> None:
    shape = replace(_ORDERS, key=("a", "b"), key_name="pk", sort=("line",), sort_name="line")
    event = {"a": Decimal(10**40), "b": -1, "line": 2}

    row = make_row(shape, event, _RECORD, 1, "id")

    assert (row["pk"], row["line"]) == (f"1{'0' * 40}/-1", "2")
    assert row["_event"] == {"line": 2}


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (None, "null"), ("", "''"), (7.0, "7.0"), (True, "True"), (["a"], "of type list"),
        (Decimal("17.5"), "17.5"), (Decimal("NaN"), "NaN"),
    ],
)  # fmt: skip
def test_an_event_without_its_key_is_unroutable(key: Any, shown: str) -> None:
    with pytest.raises(UnroutableError) as caught:
        make_row(_ORDERS, {"orderId": key}, _RECORD, 1, "id")
    assert str(caught.value) == f"found orderId {shown}, expected a string or a whole number"


@pytest.mark.parametrize("value", [None, True, float("nan"), float("inf"), [1], {"a": 1}])
def test_a_value_without_an_order_is_unroutable(value: Any) -> None:
    with pytest.raises(UnroutableError, match=r"found a .*, expected a number or a string$"):
        _order({"a": value})


_INTEGERS = st.integers(-(2**63), 2**63 - 1)
_DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
_NUMBERS = _INTEGERS | _DOUBLES | (_INTEGERS | _DOUBLES).map(Decimal)
_TEXTS = st.text(st.characters(codec="utf-8"))


@given(_NUMBERS, _NUMBERS)
def test_numbers_sort_as_numbers(one: float, other: float) -> None:
    # The offset decides between equals; Python compares whole numbers and doubles exactly.
    found = _order({"a": one}) < _order({"a": other})

    assert found == (one < other)
    later = Source("orders", 2, 8)
    assert (_order({"a": one}, source=later) > _order({"a": other})) == (one >= other)


@pytest.mark.parametrize("number", [0, -7, 2**63 - 1, -(2**63), 2.0**80, 30.5, -0.0])
def test_a_decimal_has_the_order_of_the_number_that_it_is(number: float) -> None:
    assert _order({"a": Decimal(number)}) == _order({"a": number})


@pytest.mark.parametrize("text", ["0.1", "9223372036854775809", "-1e-30", "NaN", "-Infinity"])
def test_a_decimal_that_is_no_number_of_64_bits_is_unroutable(text: str) -> None:
    with pytest.raises(UnroutableError) as caught:
        _order({"a": Decimal(text)})
    assert str(caught.value) == (
        f"found a {Decimal(text)}, expected a decimal that a long or a double holds with all its"
        " digits"
    )


@given(_TEXTS, _TEXTS)
def test_texts_sort_as_dynamodb_sorts_them(one: str, other: str) -> None:
    assert (_order({"a": one}) < _order({"a": other})) == (one.encode() < other.encode())


def test_the_first_field_decides_then_the_next_then_time_offset_and_partition() -> None:
    values = [
        (1, "", 9, 9, 9), (1, "a", -1, 9, 9), (1, "a", 0, 9, 9), (1, "a", _TIME, 7, 9),
        (1, "a", _TIME, 8, 0), (1, "a", _TIME, 8, 1), (1, "a", MAX_TIMESTAMP_MS, 0, 0),
        (1, "a\0", 0, 0, 0), (1, "ab", 0, 0, 0), (2, "", 0, 0, 0),
    ]  # fmt: skip
    orders = [
        _order({"a": a, "b": b}, ("a", "b"), Source("t", partition, offset), time)
        for a, b, time, offset, partition in values
    ]

    assert all(one < other for one, other in pairwise(orders))
    shuffled = orders.copy()
    random.Random(1).shuffle(shuffled)
    assert sorted(shuffled) == orders


def test_a_key_that_moved_to_a_new_partition_goes_on_with_its_newer_records() -> None:
    event = {"orderId": "o-1"}
    before = Record(Source("orders", 0, 9_000), b"o-1", None, (), _TIME)
    after = Record(Source("orders", 7, 0), b"o-1", None, (), _TIME + 1)

    old = make_row(_ORDERS, event, before, 1, "id")["_order"]
    assert make_row(_ORDERS, event, after, 1, "id")["_order"] > old
    assert make_deletion(_ORDERS, after)["_order"] > old


@pytest.mark.parametrize("low", [2**53, -(2**53) - 1, 2**62, 2**63 - 2, -(2**63)])
def test_neighbours_that_a_double_does_not_tell_apart_are_ordered(low: int) -> None:
    assert _order({"a": low}) < _order({"a": low + 1})


def test_a_tombstone_leaves_the_key_and_the_order() -> None:
    assert make_deletion(_ORDERS, _RECORD) == {
        "orderId": "o-1",
        "_topic": "orders",
        "_source": "orders/2/7",
        "_order": _WRITTEN,
        "_deleted": True,
    }


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"\xff" * 10_000])
def test_a_tombstone_without_a_key_is_unroutable(key: bytes | None) -> None:
    with pytest.raises(
        UnroutableError, match=r"found a tombstone with key .*, expected a string$"
    ) as caught:
        make_deletion(_ORDERS, Record(_SOURCE, key, None))

    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("op", ["D", 7, 7.0, Decimal("7.00"), True])
def test_an_event_that_says_so_deletes_its_row_in_its_order(op: Any) -> None:
    shape = replace(_ORDERS, order=("change",), deleted_when=DeletedWhen("op", ("D", "7", "true")))
    event = {"orderId": "o-1", "op": op, "change": 9}

    row = make_row(shape, event, _RECORD, 1, "id")

    kept = make_row(shape, event | {"op": "U"}, _RECORD, 1, "id")
    for other in (None, False, 7.5, Decimal("7.5"), math.inf, [7]):
        assert "_deleted" not in make_row(shape, event | {"op": other}, _RECORD, 1, "id")
    assert (row["orderId"], row["_deleted"], row["_order"]) == ("o-1", True, kept["_order"])
    assert row.keys() == {"orderId", "_topic", "_source", "_order", "_deleted"}
    assert kept["op"] == "U"
    assert "_deleted" not in kept


def test_terraform_makes_the_keys_of_a_reading_as_its_shape_names_them() -> None:
    names = json.loads((_MODULES / "reading.json").read_text())

    shape = RowShape()
    assert names == {
        "event_time": shape.event_time,
        "hash_key": shape.key[0],
        "range_key": shape.sort_name,
    }
