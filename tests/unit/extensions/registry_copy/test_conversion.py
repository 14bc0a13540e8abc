"""A schema of one registry as one of another kind holds it, and the history that a mode refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import RegistryError
from penstock.extensions.registry_copy.conversion import (
    check_definitions,
    check_history,
    convert_schema,
)
from penstock.framing import FrameKind
from penstock.registry import SchemaBackup, StoredVersion, VersionStatus
from penstock.schemas import Compatibility

_GLUE, _CONFLUENT = FrameKind.GLUE, FrameKind.CONFLUENT
_STATUS = {"d": VersionStatus.DELETING, "f": VersionStatus.FAILURE}


def _schema(*definitions: Any, name: str = "orders", status: str = "", **more: Any) -> SchemaBackup:
    """Make a schema; `status` has a letter for each version that is not available."""
    versions = tuple(
        StoredVersion(
            f"confluent:{number}", f"confluent/{name}", number,
            _STATUS.get(status[number - 1 : number], VersionStatus.AVAILABLE),
            json.dumps(definition), None,
        )
        for number, definition in enumerate(definitions, 1)
    )  # fmt: skip
    given = {"compatibility": Compatibility.BACKWARD, "checkpoint": 0, "data_format": "AVRO"}
    given |= {"description": "", "tags": {}}
    return SchemaBackup(name, versions=versions, **(given | more))


@pytest.mark.parametrize(
    ("mode", "status", "checkpoint"),
    [
        (Compatibility.BACKWARD, "", 3),
        (Compatibility.BACKWARD, "  d", 2),
        (Compatibility.FULL_ALL, "", 1),
        (Compatibility.FORWARD_ALL, "f", 2),
        (Compatibility.NONE, "fff", 1),
    ],
)
def test_glue_compares_as_the_registry_did_that_a_schema_is_from(
    mode: Compatibility, status: str, checkpoint: int
) -> None:
    schema = _schema("int", "long", "double", status=status, compatibility=mode)

    converted = convert_schema(schema, _CONFLUENT, _GLUE)

    assert (converted.schema.compatibility, converted.schema.checkpoint) == (mode, checkpoint)
    assert converted.left_out == ()


@pytest.mark.parametrize(
    ("name", "given", "there"),
    [("orders", None, "orders"), (":orders-key", None, "orders-key"), ("a b", "a-b", "a-b")],
)
def test_a_subject_has_a_name_in_glue(name: str, given: str | None, there: str) -> None:
    converted = convert_schema(_schema("int", name=name), _CONFLUENT, _GLUE, name=given)

    assert converted.schema.name == there


@pytest.mark.parametrize("name", ["a b", ":a/b", "ä", ":"])
def test_a_name_that_glue_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(RegistryError, match=r"would have the name .*, expected 1 to 255 letters"):
        convert_schema(_schema("int", name=name), _CONFLUENT, _GLUE)


def test_parts_without_a_counterpart_are_named() -> None:
    schema = _schema(
        "int", checkpoint=2, description="d", tags={"a": "b"}, compatibility=Compatibility.DISABLED
    )
    with pytest.raises(RegistryError, match="schema orders has the mode DISABLED, which only Glue"):
        convert_schema(schema, _GLUE, _CONFLUENT)

    converted = convert_schema(schema, _GLUE, _CONFLUENT, disabled_as=Compatibility.FULL)

    assert converted.left_out == (
        "mode DISABLED, it is FULL", "checkpoint 2", "description", "tags",
    )  # fmt: skip
    plain = converted.schema
    assert (plain.compatibility, plain.checkpoint) == (Compatibility.FULL, 0)
    assert (plain.description, plain.tags) == ("", {})
    assert convert_schema(schema, _GLUE, _GLUE).schema == schema


def test_a_definition_that_is_not_whole_is_refused_unless_no_program_gets_it() -> None:
    record = {"type": "record", "name": "A", "fields": [{"name": "u", "type": "x.Missing"}]}
    check_definitions(_schema("int", record, status=" d"))
    check_definitions(_schema(record, data_format="PROTOBUF", status="f"))

    with pytest.raises(RegistryError, match="version 2 of schema orders has no definition that a"):
        check_definitions(_schema("int", record))


def test_a_version_that_the_mode_refuses_is_named_with_the_reason() -> None:
    schema = _schema("int", "long", "string", "long")
    check_history(schema, [1, 2])

    with pytest.raises(
        RegistryError,
        match=r"version 3 of schema orders is refused by the schema's mode BACKWARD: .*; its reg",
    ):
        check_history(schema, [2, 3, 4])
    check_history(_schema("int", "string", "long", status=" d"), [1, 3])
    check_history(_schema("int", "string", compatibility=Compatibility.NONE), [1, 2])
