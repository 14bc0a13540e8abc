"""Which schemas have one text, and what that text is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, SchemaLimitError
from penstock.schemas import canonical_form, load_canonical, load_schema


def _record(*fields: Any, **attributes: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)} | attributes


_F = {"name": "f", "type": "long"}
_INNER = {"type": "record", "name": "I", "fields": []}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("long", {"type": "long"}),
        (_record(_F), dict(reversed(_record(_F).items()))),
        (_record(name="a.b.R"), _record(name="R", namespace="a.b")),
        (_record({"name": "f", "type": _INNER}, name="a.R"),
         _record({"name": "f", "type": _INNER | {"name": "a.I"}}, name="a.R")),
        (_record({"name": "f", "type": _INNER}, {"name": "g", "type": "I"}, name="a.R"),
         _record({"name": "f", "type": _INNER}, {"name": "g", "type": "a.I"}, name="a.R")),
        (_record(aliases=["x.B", "A"], name="x.R"), _record(aliases=["x.A", "B"], name="x.R")),
        (_record(_F | {"aliases": []}), _record(_F)),
        (_record(_F | {"default": 1, "doc": "d"}), _record({"doc": "d", "default": 1} | _F)),
        (_record(_F | {"x": {"b": 1, "a": [{"d": 1, "c": 2}]}}),
         _record(_F | {"x": {"a": [{"c": 2, "d": 1}], "b": 1}})),
    ],
)  # fmt: skip
def test_one_schema_written_in_two_ways_has_one_text(one: Any, other: Any) -> None:
    assert canonical_form(one) == canonical_form(other)
    assert load_canonical(json.dumps(one)) == (one, canonical_form(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_record(_F), _record(_F | {"default": 0})),
        (_record(_F), _record(_F | {"aliases": ["g"]})),
        (_record(_F), _record(_F | {"jsonName": "f-"})),
        (_record(_F), _record(_F | {"doc": "text"})),
        (_record(_F), _record(_F | {"type": {"type": "long", "logicalType": "timestamp-millis"}})),
        (_record(_F, _F | {"name": "g"}), _record(_F | {"name": "g"}, _F)),
        (_record(_F), _record(_F | {"type": ["long"]})),
        (["null", "long"], ["long", "null"]),
        (_record(name="a.R"), _record(name="b.R")),
        (_record(name="a.R"), _record(name="R")),
    ],
)
def test_other_differences_change_the_text(one: Any, other: Any) -> None:
    assert canonical_form(one) != canonical_form(other)


def test_the_text_reads_well_and_is_compact() -> None:
    inner = {"type": "fixed", "name": "I", "namespace": "", "size": 2}
    field = {"aliases": ["g"], "type": inner, "name": "f", "default": "ab"}
    schema = {"namespace": "a", "doc": "d", "fields": [field], "type": "record", "name": "R"}
    text = canonical_form(schema)
    assert text == (
        '{"type":"record","name":"a.R","fields":[{"name":"f","type":{"type":"fixed","name":"I",'
        '"namespace":"","size":2},"aliases":["g"],"default":"ab"}],"doc":"d"}'
    )
    assert canonical_form(load_schema(text)) == text


def test_names_beyond_ascii_are_escaped() -> None:
    text = canonical_form(_record(_F | {"jsonName": "größe"}))
    assert text.isascii()
    assert json.loads(text)["fields"][0]["jsonName"] == "größe"


def test_a_reference_to_a_type_without_a_namespace_from_inside_one() -> None:
    inner = {"type": "record", "name": "S.I", "fields": [{"name": "x", "type": "N"}]}
    schema = _record({"name": "n", "type": _INNER | {"name": "N"}}, {"name": "s", "type": inner})
    assert canonical_form(json.loads(canonical_form(schema))) == canonical_form(schema)


def test_a_schema_that_contains_itself_has_no_text() -> None:
    with pytest.raises(RecursiveSchemaError, match=r"^the type R contains itself$"):
        canonical_form(_record({"name": "f", "type": ["null", "R"]}))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        canonical_form(_record({"name": "f", "type": "Nowhere"}))
    assert str(caught.value) == "the schema refers to Nowhere, which it does not define"


def test_references_that_expand_to_too_many_types_are_rejected() -> None:
    inner: Any = "long"
    for level in range(20):
        twice = [{"name": "a", "type": inner}, {"name": "b", "type": f"L{level - 1}"}]
        fields = twice if level else [{"name": "a", "type": "long"}]
        inner = {"type": "record", "name": f"L{level}", "fields": fields}
    with pytest.raises(SchemaLimitError) as caught:
        canonical_form(inner)
    assert str(caught.value) == (
        "written out without references the schema has more than 100,000 types"
    )
