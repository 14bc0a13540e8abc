"""Schemas that mean harm: too large, too deep, too many, or no JSON at all."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, SchemaLimitError
from penstock.schemas import check_schema, load_schema
from penstock.schemas._json import MAX_DEPTH
from tests.unit.schemas.writing import field, nested, record


def test_refuses_a_huge_fixed() -> None:
    with pytest.raises(
        SchemaLimitError,
        match=r"^the schema: a fixed of 2,000,000,000 bytes, expected at most 1,048,576$",
    ):
        check_schema({"type": "fixed", "name": "F", "size": 2_000_000_000})


def test_refuses_a_long_definition() -> None:
    schema = {"type": "int", "doc": "x" * 170_000}

    for refuse in (lambda: check_schema(schema), lambda: load_schema(json.dumps(schema))):
        with pytest.raises(
            SchemaLimitError,
            match=r"^the definition has 170,0\d\d characters, expected at most 170,000$",
        ):
            refuse()


def test_refuses_a_field_name_that_no_column_could_note() -> None:
    check_schema(record(field("int", "a" * 220)))

    with pytest.raises(
        SchemaLimitError,
        match=r"^the schema: found a field name of 221 characters, expected at most 220$",
    ):
        check_schema(record(field("int", "a" * 221)))


def test_refuses_too_much_depth() -> None:
    named: Any = record(field(nested(MAX_DEPTH - 2)), name="S")

    for schema, path in [
        (nested(MAX_DEPTH + 1), r"(\[\]){33}"),
        (record(field(named), field({"type": "array", "items": "S"}, "b")), "the schema"),
    ]:
        with pytest.raises(
            SchemaLimitError,
            match=rf"^{path}: expected at most {MAX_DEPTH} records, arrays and maps inside one",
        ):
            check_schema(schema)


def test_a_long_path_is_cut_in_the_message() -> None:
    schema: Any = "int"
    for number in range(MAX_DEPTH + 1):
        schema = record(field(schema, "a" * 50), name=f"R{number}")

    with pytest.raises(SchemaLimitError) as caught:
        check_schema(schema)

    assert len(str(caught.value)) < 300


def _doubling(levels: int) -> dict[str, Any]:
    """Make a short schema whose fields double with every level once its names are written out."""
    schema = record(field("int"), name="R0")
    for level in range(1, levels):
        schema = record(field(schema), field(f"R{level - 1}", "b"), name=f"R{level}")
    return schema


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (13, r"^the schema: 12,286 fields, expected at most 10,000$"),
        (30, r"^written out without references the schema has more than 100,000 types$"),
    ],
)
def test_refuses_fields_that_names_multiply(levels: int, message: str) -> None:
    check_schema(_doubling(12))

    with pytest.raises(SchemaLimitError, match=message):
        check_schema(_doubling(levels))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the definition is not JSON: Expecting value: line 1 column 1 \(char 0\)"),
        ("string", r"the definition is not JSON: Expecting value: line 1 column 1 \(char 0\)"),
        ('{"type": "int", "x": 1e999}', "the definition is not JSON: 1e999 is not a number .*"),
        ('{"type": "int", "x": NaN}', "the definition is not JSON: NaN is not a JSON number"),
        ("1" * 5_000, "the definition is not JSON: Exceeds the limit .*"),
        ("[" * 100_000, "the definition nests too deep to be read as JSON"),
        ('{"type":' * 20_000, "the definition nests too deep to be read as JSON"),
    ],
)
def test_refuses_text_that_is_no_json(text: str, message: str) -> None:
    with pytest.raises(InvalidSchemaError, match=rf"^{message}$"):
        load_schema(text)


def test_refuses_values_that_are_no_json() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = "int"
    for _ in range(100_000):
        deep = [deep]

    for value, message in [
        (circle, "the schema is not a JSON value: Circular reference detected"),
        (deep, "the schema is not a JSON value: maximum recursion depth exceeded"),
        ({"type": "int", "x": b""}, "the schema is not a JSON value: Object of type bytes is not"),
        ({"type": "int", "x": float("inf")}, "the schema is not a JSON value: Out of range float"),
        ({"type": "int", 7: 8}, "the schema holds tuples or keys that are not text, expected JSON"),
        (("int",), "the schema holds tuples or keys that are not text, expected JSON"),
    ]:
        with pytest.raises(InvalidSchemaError) as caught:
            check_schema(value)
        assert str(caught.value).startswith(message)


_HARM = """
import sys
from penstock.errors import SchemaError
from penstock.schemas import load_schema

for text in ("[" * 169_999, '{"type":' * 20_000, '{"type":"array","items":' * 7_000):
    for end in ("", '"int"' + "}" * 7_000):
        try:
            load_schema(text + end)
        except SchemaError as error:
            print(type(error).__name__)
"""


def test_no_text_takes_the_process_down() -> None:
    child = subprocess.run(
        [sys.executable, "-c", _HARM], capture_output=True, timeout=90, check=True, text=True
    )

    assert len(child.stdout.split()) == 6
    assert set(child.stdout.split()) == {"InvalidSchemaError", "SchemaLimitError"}


def test_a_union_of_too_many_types_is_refused() -> None:
    branches = [{"type": "fixed", "name": f"F{i}", "size": 1} for i in range(257)]
    check_schema(branches[:256])

    with pytest.raises(SchemaLimitError) as caught:
        check_schema(branches)

    assert str(caught.value) == "the schema: a union of 257 types, expected at most 256"


def test_defaults_that_take_too_many_tries_are_refused() -> None:
    branches = [{"type": "fixed", "name": f"F{i}", "size": 9} for i in range(99)]
    listed = record(field({"type": "array", "items": [*branches, "string"]}, "x"), name="L")
    default = {"x": ["y"] * 1_000}
    check_schema(record(field(listed, default=default)))

    with pytest.raises(
        SchemaLimitError,
        match=r"^the defaults of the schema take more than 200,000 tries of a type for a value, "
        "expected fewer values or smaller unions$",
    ):
        check_schema(record(field(listed, default=default), field("L", "b", default=default)))
