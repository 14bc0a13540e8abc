"""Which versions are accepted: modes, what they are compared with, time, formats."""

from __future__ import annotations

import time

import pytest

from localcloud.testing import wait_until
from tests.glue.definitions import (
    FIRST,
    MESSAGE,
    REFUSED,
    SECOND,
    avro,
    read_number,
)
from tests.refusals import fails

# What follows a first version with `a` (a number) and an optional `b`.
_CASES = {
    "an optional field more": avro(a="long", b="long?", c="long?"),
    "a field more": avro(a="long", b="long?", c="long"),
    "an optional field less": avro(a="long"),
    "a field less": avro(b="long?"),
    "another type": avro(a="string", b="long?"),
}


@pytest.mark.parametrize(
    ("mode", "accepted"),
    [
        ("NONE", set(_CASES)),
        ("DISABLED", set()),
        ("BACKWARD", {"an optional field more", "an optional field less", "a field less"}),
        ("BACKWARD_ALL", {"an optional field more", "an optional field less", "a field less"}),
        ("FORWARD", {"an optional field more", "an optional field less", "a field more"}),
        ("FORWARD_ALL", {"an optional field more", "an optional field less", "a field more"}),
        ("FULL", {"an optional field more", "an optional field less"}),
        ("FULL_ALL", {"an optional field more", "an optional field less"}),
    ],
)
def test_the_eight_modes(glue, schema, mode, accepted):
    seen = set()
    for number, (case, definition) in enumerate(_CASES.items()):
        readings = schema(avro(a="long", b="long?"), mode=mode, name=f"s{number}")
        arguments = {"SchemaId": readings, "SchemaDefinition": definition}
        if mode == "DISABLED":
            arn = glue.get_schema(SchemaId=readings)["SchemaArn"]
            said = f"{arn} takes no new version."
            fails("InvalidInputException", said, glue.register_schema_version, **arguments)
        elif glue.register_schema_version(**arguments)["Status"] == "AVAILABLE":
            seen.add(case)

    assert seen == accepted


@pytest.mark.parametrize(
    ("compared_with", "status"),
    [("checkpoint", "AVAILABLE"), ("previous", "FAILURE"), ("both", "FAILURE")],
)
def test_both_readings_of_the_compatibility_rule(glue, schema, settings, compared_with, status):
    settings(compared_with=compared_with)
    readings = schema(FIRST, avro(id="string", t="double?"))

    third = glue.register_schema_version(
        SchemaId=readings, SchemaDefinition=avro(id="string", t="string?")
    )

    assert third["Status"] == status


def test_a_verdict_can_take_reads_or_time(glue, schema, settings):
    assert settings(pending_reads=2)["pending_reads"] == 2
    readings = schema(FIRST, REFUSED)
    statuses = [read_number(glue, readings, 2)["Status"] for _ in range(3)]
    assert statuses == ["PENDING", "PENDING", "FAILURE"]

    assert settings(pending_reads=0, pending_seconds=2)["pending_seconds"] == 2
    settings(pending_seconds=3_600)
    added = glue.register_schema_version(SchemaId=readings, SchemaDefinition=SECOND)
    assert added["Status"] == "PENDING"
    settings(pending_seconds=0.3)
    others, started = schema(FIRST, name="others"), time.monotonic()
    glue.register_schema_version(SchemaId=others, SchemaDefinition=SECOND)
    wait_until("a verdict", lambda: read_number(glue, others, 2)["Status"] == "AVAILABLE")
    assert time.monotonic() >= started + 0.3
    assert read_number(glue, readings, 3)["Status"] == "PENDING"


def test_settings_that_cannot_be_are_refused(settings):
    assert settings(compared_with="newest") == {
        "error": "compared_with is 'newest', expected one of checkpoint, previous, both"
    }
    assert settings(pending_reads=-1) == {"error": "pending_reads is -1, expected 0 or more"}


_JSON = '{"type": "object"}'


@pytest.mark.parametrize(
    ("data_format", "good", "bad", "problem"),
    [
        ("AVRO", FIRST, '{"type": "wreckord"}', "found 'wreckord', expected a primitive type"),
        ("JSON", _JSON, "[]", "a JSON schema is an object, true or false"),
        ("JSON", "true", "{", "Expecting property name"),
        ("JSON", "{}", "[" * 100_000, "maximum recursion depth exceeded"),
        ("PROTOBUF", MESSAGE, "message Reading {", "a Protocol Buffers schema has a message or"),
    ],
)
def test_the_syntax_of_a_definition_is_checked(glue, data_format, good, bad, problem):
    def check(definition):
        return glue.check_schema_version_validity(
            DataFormat=data_format, SchemaDefinition=definition
        )

    assert check(good)["Valid"] is True
    refused = check(bad)
    assert refused["Valid"] is False
    assert problem in refused["Error"]
    fails(
        "InvalidInputException",
        "1 validation error detected: Value 'XML' at 'dataFormat' failed",
        glue.check_schema_version_validity,
        DataFormat="XML",
        SchemaDefinition=good,
    )


def test_json_is_kept_and_never_compared(glue, schema):
    readings = schema(_JSON, mode="FULL_ALL", data_format="JSON")

    added = glue.register_schema_version(SchemaId=readings, SchemaDefinition='{"type": "array"}')

    assert added["Status"] == "AVAILABLE"
    assert read_number(glue, readings, 2)["DataFormat"] == "JSON"


def test_protobuf_is_kept_and_not_judged(glue, schema):
    free = schema(MESSAGE, mode="NONE", data_format="PROTOBUF", name="free")
    held = schema(MESSAGE, mode="BACKWARD", data_format="PROTOBUF", name="held")
    other = MESSAGE.replace("1", "2")

    added = glue.register_schema_version(SchemaId=free, SchemaDefinition=other)
    same = glue.register_schema_version(SchemaId=held, SchemaDefinition=MESSAGE)

    assert (added["VersionNumber"], same["VersionNumber"]) == (2, 1)
    fails(
        "NotImplemented",
        "localcloud cannot compare PROTOBUF definitions, which the schema's mode BACKWARD asks for",
        glue.register_schema_version,
        SchemaId=held,
        SchemaDefinition=other,
    )
