"""A projection chooses fields and names their columns, and refuses one name for two of them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import SchemaConflictError
from penstock.records import Projection

_FIELDS = ("ID", "Name", "note")


@pytest.mark.parametrize(
    ("projection", "expected"),
    [
        (Projection(), {"ID": "ID", "Name": "Name", "note": "note"}),
        (Projection(lower_case=True), {"ID": "id", "Name": "name", "note": "note"}),
        (Projection(("note", "ID", "later")), {"ID": "ID", "note": "note"}),
        (
            Projection(renames=(("ID", "orderId"),)),
            {"ID": "orderId", "Name": "Name", "note": "note"},
        ),
        (Projection(("ID",), (("ID", "Key"),), True), {"ID": "Key"}),
    ],
)
def test_fields_become_columns(projection: Projection, expected: dict[str, str]) -> None:
    assert projection.columns(_FIELDS) == expected
    assert {name: projection.name(name) for name in expected} == expected


def test_a_field_that_is_not_chosen_has_no_column() -> None:
    assert Projection(("ID",)).name("Name") is None


@pytest.mark.parametrize("value", ["", {}, {"k": {}}, {"k": {}, "l": {"m": {}}}])
def test_an_event_whose_chosen_fields_hold_nothing_has_no_row(value: Any) -> None:
    event = {"ID": value, "note": 1}

    assert Projection(("ID",)).project(event, "") is None
    assert Projection(("ID",), keeps_empty=True).project(event, "") == {"ID": value}
    assert Projection(("ID", "note")).project(event, "") == event


@pytest.mark.parametrize("value", [0, False, b"", [], [None], {"k": None}, {"k": ""}, {"k": []}])
def test_an_event_with_a_value_in_a_chosen_field_has_a_row(value: Any) -> None:
    assert Projection(("ID",)).project({"ID": value}, "") == {"ID": value}


@pytest.mark.parametrize(
    "projection", [Projection(lower_case=True), Projection(renames=(("ID", "id"),))]
)
def test_two_fields_of_one_column_are_named(projection: Projection) -> None:
    with pytest.raises(
        SchemaConflictError, match=r"ID and id would both be the column id"
    ) as caught:
        projection.columns(("ID", "id"))

    assert caught.value.path == "id"
