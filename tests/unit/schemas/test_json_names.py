"""Avro names for JSON names: valid, and never two for one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.schemas import avro_name, decode_event, encode, infer_schema, to_record

_NAMES = st.one_of(
    st.text(st.sampled_from("_x05fd2AZ-é"), max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)


def _undo(name: str) -> str:
    if name == "_x_":
        return ""
    return re.sub(r"_x([0-9a-f]{4,6})_", lambda mark: chr(int(mark[1], 16)), name)


@pytest.mark.parametrize(
    ("json_name", "name"),
    [
        ("temperature", "temperature"),
        ("pos_x", "pos_x"),
        ("a_x12", "a_x12"),
        ("_", "_"),
        ("temp-c", "temp_x002d_c"),
        ("1st", "_x0031_st"),
        ("a.b", "a_x002e_b"),
        ("\U0001f600", "_x1f600_"),
        ("", "_x_"),
        ("_x_", "_x005f_x_"),
        ("_x0041_", "_x005f_x0041_"),
        ("_x0041-", "_x005f_x0041_x002d_"),
    ],
)
def test_names(json_name: str, name: str) -> None:
    assert avro_name(json_name) == name


@given(_NAMES)
def test_every_name_is_valid_and_can_be_undone(json_name: str) -> None:
    name = avro_name(json_name)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    assert _undo(name) == json_name


@given(st.dictionaries(_NAMES, st.integers(0, 9), max_size=5))
def test_an_event_round_trips_with_its_names(event: dict[str, int]) -> None:
    schema = infer_schema(event, "reading")
    assert isinstance(schema, dict)
    names = [field["name"] for field in schema["fields"]]
    assert len(set(names)) == len(event)
    assert names == sorted(names)
    assert decode_event(encode(to_record(event, schema), schema), schema) == event
