"""Types of Glue's columns are read as they are written."""

from __future__ import annotations

import pytest

from penstock.tables.columns import Array, Column, Map, Struct
from penstock.tables.hive_types import lower_names, parse_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BIGINT", "bigint"),
        ("decimal(9, 2)", "decimal(9,2)"),
        ("integer", "int"),
        ("array<int>", Array("int")),
        ("map<string,array<timestamp>>", Map("string", Array("timestamp"))),
        ("struct<A:int, b:date>", Struct((Column("A", "int"), Column("b", "date")))),
        ("struct<>", Struct()),
        ("struct<a:struct<b:map<string,int>>>", Struct((
            Column("a", Struct((Column("b", Map("string", "int")),))),))),
        ("struct<a", "struct<a"),
        ("uniontype<int>", "uniontype<int>"),
        ("int>", "int>"),
        ("", ""),
    ],
)  # fmt: skip
def test_types_are_parsed(text, expected) -> None:
    assert parse_type(text) == expected
    if not isinstance(expected, str):
        assert parse_type(str(expected)) == expected


def test_names_are_lowered_inside_too() -> None:
    inner = Struct((Column("X", "timestamp_ntz"),))
    columns = Struct((Column("A", Array(Map("string", inner)), "field A"),))

    assert str(lower_names(columns)) == "struct<a:array<map<string,struct<x:timestamp>>>>"
    assert lower_names(columns).columns[0].comment == "field A"
