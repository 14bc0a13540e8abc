"""The oracle of joined rows finds what is wrong in tables that were doctored."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from campaign.history import Record, Row, Staged
from campaign.joins import find_join_problems
from campaign.oracle import Kind
from demo.staging.publisher import SCHEMAS

_VERSIONS = {
    str(uuid.UUID(int=number)): json.dumps(schema)
    for number, (schema, *_) in enumerate(SCHEMAS.values(), 1)
}


def _records(table: str, *rows: Row | tuple[str, None]) -> list[Record]:
    number = list(SCHEMAS).index(table) + 1
    return [_record(table, number, offset, row) for offset, row in enumerate(rows)]


def _record(table: str, number: int, offset: int, row: Any) -> Record:
    if isinstance(row, tuple):
        return Record(0, offset, offset, None, table, row[0].encode())
    body = io.BytesIO()
    fastavro.schemaless_writer(body, SCHEMAS[table][0], row)
    frame = b"\3\0" + uuid.UUID(int=number).bytes + body.getvalue()
    return Record(0, offset, offset, frame, table, b"k")


_OLD, _NEW = ({"customer_id": "c1", "name": name} for name in ("Ada", "Ada L."))
_PRODUCT = {"product_id": "p/1", "title": "Pen", "price": 7}
_ORDER = {"order_id": "o1", "customer_id": "c1", "placed_at": 5}
_LINE = {"order_id": "o1", "line_no": 2, "product_id": "p/1", "quantity": 4}
_WRONG_LINE = {**_LINE, "quantity": 5}
_KEYS = {"order_id": "o1", "line_no": 2, "customer_id": "c1"}
_PACKED = {"shipment_id": "s1", **_KEYS, "product_id": "p/1", "status": "packed"}
_SENT = {**_PACKED, "status": "sent"}
_LATE = {**_PACKED, "shipment_id": "s2", "product_id": "p/2"}
_GONE = {**_PACKED, "shipment_id": "s3"}
_FINAL = {**_SENT, "customer": _OLD, "product": _PRODUCT, "order": _ORDER, "order_line": _LINE}
_LETTER = {
    "id": "t/0/2/2/join",
    "stage": "join",
    "reason": "unmet-dependency",
    "driver": "shipments/s2",
    "waitingFor": ["products/p%2F2"],
}
_TABLES: Mapping[str, Sequence[Row]] = {
    "customers": [{**_NEW, "staging_time": "t", "_order": "x"}],
    "products": [{**_PRODUCT, "price": Decimal(7)}],
    "orders": [_ORDER],
    "order_lines": [{**_LINE, "line_id": "o1/2"}],
    "shipments": [_SENT, _LATE, {"shipment_id": "s3", "_deleted": True}],
    "fulfilments": [_FINAL, {"shipment_id": "s3", "_deleted": True}],
    "waiting": [],
}
_STAGED = Staged(
    records={
        "customers": _records("customers", _OLD, _NEW),
        "products": _records("products", _PRODUCT),
        "orders": _records("orders", _ORDER),
        "order_lines": _records("order_lines", _LINE),
        "shipments": _records("shipments", _PACKED, _SENT, _LATE, _GONE, ("s3", None)),
    },
    versions=_VERSIONS,
    tables=_TABLES,
    letters=[_LETTER, {**_LETTER, "driver": "shipments/s1", "doneAt": 1}],
)


def _check(**changes: Any) -> list[tuple[Kind, str]]:
    return [(each.kind, each.what) for each in find_join_problems(replace(_STAGED, **changes))]


def _check_table(table: str, *rows: Row) -> list[tuple[Kind, str]]:
    return _check(tables={**_TABLES, table: rows})


def test_what_is_joined_once_with_any_version_is_right() -> None:
    assert _check() == []
    assert _check_table("fulfilments", {**_FINAL, "customer": _NEW}) == []


@pytest.mark.parametrize(
    ("table", "rows", "problem"),
    [
        ("orders", [], (Kind.LOST, "orders/o1: no row")),
        ("customers", [_OLD], (Kind.ORDER, "customers/c1: name is 'Ada', sent 'Ada L.'")),
        (
            "shipments",
            [_SENT, _LATE, _GONE],
            (Kind.ORDER, "shipments/s3: a row that was deleted"),
        ),
        (
            "orders",
            [_ORDER, {**_ORDER, "order_id": "o9"}],
            (Kind.WRONG, "orders/o9: a row that nobody wrote"),
        ),
        ("fulfilments", [], (Kind.LOST, "fulfilments/s1: no row, and all that it needs is there")),
        (
            "fulfilments",
            [{**_FINAL, "status": "packed"}],
            (Kind.ORDER, "fulfilments/s1: status is 'packed', sent 'sent'"),
        ),
        (
            "fulfilments",
            [{**_FINAL, "order_line": _WRONG_LINE}],
            (
                Kind.ORDER,
                f"fulfilments/s1: order_line is {_WRONG_LINE}, which order_lines never had",
            ),
        ),
        (
            "fulfilments",
            [_FINAL, {**_FINAL, **_LATE}],
            (Kind.ORDER, "fulfilments/s2: a row of a shipment that lacks a row"),
        ),
        (
            "fulfilments",
            [_FINAL, {**_FINAL, **_GONE}],
            (Kind.ORDER, "fulfilments/s3: a row of a shipment that is deleted"),
        ),
        (
            "fulfilments",
            [_FINAL, {**_FINAL, "shipment_id": "s9"}],
            (Kind.WRONG, "fulfilments/s9: a row of no shipment"),
        ),
    ],
)
def test_a_row_that_the_topics_do_not_make_is_told(
    table: str, rows: list[Row], problem: tuple[Kind, str]
) -> None:
    kind, what = problem

    assert _check_table(table, *rows) == [(kind, f"staging, {what}")]


@pytest.mark.parametrize(
    ("letters", "problem"),
    [
        ([], (Kind.LOST, "shipments/s2 lacks ['products/p%2F2'], and does not wait")),
        (
            [{**_LETTER, "waitingFor": ["orders/o1"]}],
            (Kind.ORDER, "shipments/s2 waits for ['orders/o1'], and lacks ['products/p%2F2']"),
        ),
        (
            [_LETTER, {**_LETTER, "driver": "shipments/s1", "waitingFor": ["orders/o1"]}],
            (Kind.ORDER, "shipments/s1 waits for ['orders/o1'], and lacks []"),
        ),
        (
            [_LETTER, {**_LETTER, "stage": "spark", "reason": "truncated"}],
            (Kind.LETTER, "t/0/2/2/join is good, given up for truncated"),
        ),
    ],
)
def test_a_dead_letter_that_does_not_say_what_is_missing_is_told(
    letters: list[Row], problem: tuple[Kind, str]
) -> None:
    kind, what = problem

    assert _check(letters=letters) == [(kind, f"staging: {what}")]
