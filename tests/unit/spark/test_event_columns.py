"""The chosen fields of a schema become columns; a record without a value in any is no row."""

from __future__ import annotations

import pytest

from penstock.errors import SchemaConflictError
from penstock.records import Projection
from penstock.schemas import merge_schemas
from penstock.spark.decoding.columns import EventColumns

_MERGED = merge_schemas(
    [
        {
            "type": "record",
            "name": "Order",
            "fields": [
                {"name": "state", "type": ["null", "string"]},
                {"name": "count", "type": ["null", "long"]},
                {"name": "other", "type": "long"},
            ],
        }
    ]
)


def _find_empty(columns: Projection) -> str:
    return EventColumns(columns, _MERGED).find_empty("body")


def test_a_record_whose_chosen_fields_are_empty_is_no_row() -> None:
    expected = "body.`count` IS NULL AND coalesce(body.`state`, '') = ''"

    assert _find_empty(Projection(("state", "count"))) == expected


def test_a_field_that_never_holds_a_value_makes_no_record_a_row() -> None:
    empty = {"type": "record", "name": "Empty", "fields": []}
    schema = {"type": "record", "name": "R", "fields": [{"name": "e", "type": empty}]}

    assert EventColumns(Projection(("e",)), schema).find_empty("body") == "TRUE"


def test_records_and_maps_of_nothing_make_no_record_a_row() -> None:
    inside = {"type": "record", "name": "I", "fields": [{"name": "t", "type": ["null", "string"]}]}
    maps = {"type": "map", "values": {"type": "map", "values": ["null", inside]}}
    types = {"maps": maps, "either": ["long", "string", "I"]}
    fields = [{"name": name, "type": each} for name, each in types.items()]
    schema = {"type": "record", "name": "R", "fields": fields}

    assert EventColumns(Projection(("maps", "either")), schema).find_empty("body") == (
        "coalesce(forall(map_values(body.`maps`), v0 -> v0 IS NOT NULL AND coalesce(forall("
        "map_values(v0), v1 -> v1 IS NOT NULL AND v1.`t` IS NULL), TRUE)), TRUE)"
        " AND body.`either`.`member_I`.`t` IS NULL AND body.`either`.`member_number` IS NULL"
        " AND coalesce(body.`either`.`member_string`, '') = ''"
    )


@pytest.mark.parametrize(
    "columns", [Projection(), Projection(("state", "count"), keeps_empty=True)]
)
def test_a_record_is_a_row_if_all_fields_are_chosen_or_its_key_is_elsewhere(columns) -> None:
    assert _find_empty(columns) == ""


def test_a_schema_without_any_chosen_field_is_refused() -> None:
    expected = "found the fields count, other, state, expected one of the chosen State, Count"

    with pytest.raises(SchemaConflictError, match=expected):
        EventColumns(Projection(("State", "Count")), _MERGED).check()
