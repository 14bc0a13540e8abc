"""The work that one event can cause: its values are counted before the work is done."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given

from penstock.errors import EventError, EventLimitError
from penstock.schemas import compile_encoder, infer_schema, to_record
from penstock.schemas._conversion import _Conversion
from penstock.schemas._merging import merge_types
from penstock.schemas._readers import Payload
from penstock.schemas._resolution import Resolution
from penstock.schemas._types import AvroType, resolve
from tests.unit.schemas.strategies import EVENTS
from tests.unit.schemas.writing import field, record

_TOO_MANY = "found more than 500,000 values in the event, expected at most that"


def _spend(event: dict[str, Any], schema: Any) -> tuple[int, int]:
    """Return the values that are counted when an event is written, and when it is read again."""
    type_ = resolve(schema)
    writing = _Conversion()
    payload = Payload(compile_encoder(schema)(writing.convert(event, type_, "")))
    started = writing._left, payload.left
    Resolution().compile(type_, type_)(payload, 0)
    return started[1] - started[0], started[1] - payload.left


@given(EVENTS)
def test_an_event_has_as_many_values_when_it_is_written_as_when_it_is_read(
    event: dict[str, Any],
) -> None:
    try:
        schema = infer_schema(event, "R")
    except EventError:
        return
    # Inferred schemas have no maps, so the event is an entry of one too.
    of_map = record(field({"type": "map", "values": schema}), name="M")
    for given_event, given_schema in ((event, schema), ({"a": {"k": event, "": event}}, of_map)):
        written, read = _spend(given_event, given_schema)
        assert written == read


def test_keys_and_values_of_a_map_count_when_written_and_when_read() -> None:
    inner = record(field(["null", "long"], "x"), field(["null", "long"], "y"), name="I")
    schema = record(field({"type": "map", "values": ["null", inner]}))

    assert _spend({"a": {"k": {"x": 1}, "l": None}}, schema) == (1 + 4 + 2, 1 + 4 + 2)


def test_values_are_counted_before_the_schema_is_inferred() -> None:
    with patch("penstock.schemas.infer.resolve", side_effect=AssertionError):
        for event in ({"a": [0] * 500_000}, {"a": [[[]]] * 250_000}, {"a": [{"x": 1}] * 250_000}):
            with pytest.raises(EventLimitError) as caught:
                infer_schema(event, "R")
            assert str(caught.value) == _TOO_MANY


def test_an_item_has_the_fields_of_all_items_and_is_not_made_if_they_are_too_many() -> None:
    wide = {f"k{number}": 1 for number in range(1_000)}
    with pytest.raises(EventLimitError) as caught:
        infer_schema({"a": [wide] + [{}] * 499}, "R")
    assert str(caught.value) == f"a[]: {_TOO_MANY}"

    schema = infer_schema({"a": [wide] + [{}] * 498}, "R")
    with pytest.raises(EventLimitError, match=r"^a\[\]: found more than 500,000 values"):
        to_record({"a": [{}] * 500}, schema)


def test_the_definition_is_measured_before_a_value_is_converted() -> None:
    items = [{f"k{item}_{number}": 1 for number in range(100)} for item in range(40)]
    with (
        patch("penstock.schemas.infer.convert", side_effect=AssertionError),
        pytest.raises(
            EventLimitError,
            match=r"^found an event whose schema takes more than 170,000 characters, expected at ",
        ),
    ):
        infer_schema({"a": items}, "R")


def test_names_are_counted_before_they_are_made() -> None:
    event: Any = {f"{'l' * 200}{number}": 1 for number in range(999)}
    for _ in range(30):
        event = {"k" * 220: event}
    for hostile in (event, {f"{'k' * 210}{number}": 1 for number in range(999)}):
        tracemalloc.start()
        with pytest.raises(EventLimitError, match="schema takes more than 170,000 characters"):
            infer_schema(hostile, "R")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * 2**20


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("k" * 221, r"'k{40}'\.\.\. whose name takes 221"),
        ("é" * 32, r"'é{32}'\.\.\. whose name takes 224"),  # seven characters each in Avro
        ("°" * 10_000_000, r"'°{40}'\.\.\. whose name takes 10,000,000"),
    ],
    ids=["long", "escaped", "huge"],
)
def test_a_name_that_no_column_could_note_is_refused(name: str, found: str) -> None:
    infer_schema({"k" * 220: {"k" * 220: 1}, "é" * 31: 1}, "R")

    for event in ({name: 1}, {"a": [{name: 1}]}):
        message = f"^found a field {found} characters in a schema, expected at most 220$"
        with pytest.raises(EventLimitError, match=message):
            infer_schema(event, "R")


@pytest.mark.parametrize(
    ("items", "merged"),
    [
        ([1] * 1_000, 1),
        ([1, 1.5, None] * 1_000, 2),
        ([{"x": 1}] * 1_000, 1),
        ([{"x": 1}, {"y": "z"}, {"x": 1, "y": "z"}] * 1_000, 3),
        ([{"x": [{"y": 1}] * 10}] * 1_000, 1),
        ([{f"k{number % 7}": 1} for number in range(1_000)], 7),
    ],
)
def test_a_list_is_merged_once_for_each_different_type(items: list[Any], merged: int) -> None:
    sizes = []

    def count(types: Sequence[AvroType], path: str) -> AvroType:
        sizes.append(len(types) - 1)  # without the null that every item may be
        return merge_types(types, path)

    with patch("penstock.schemas.infer.merge_types", count):
        infer_schema({"a": items}, "R")

    assert sizes[-1] == merged
    assert len(sizes) <= 2  # the list inside an item is merged once, too
