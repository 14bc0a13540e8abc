"""Versions of schemas, by boto3: registered, read, listed, told apart, deleted."""

from __future__ import annotations

import json

import pytest

from tests.glue.definitions import (
    FIRST,
    MESSAGE,
    REFUSED,
    SECOND,
    UNKNOWN,
    avro,
    read_number,
)
from tests.refusals import fails


def test_the_same_text_is_the_same_version(glue, schema):
    readings = schema()

    answers = [
        glue.register_schema_version(SchemaId=readings, SchemaDefinition=each)
        for each in (SECOND, FIRST, SECOND)
    ]

    assert [each["VersionNumber"] for each in answers] == [2, 1, 2]
    assert {each["Status"] for each in answers} == {"AVAILABLE"}
    said = "Schema is not found."
    other = {"RegistryName": "plant", "SchemaName": "other"}
    register = glue.register_schema_version
    fails("EntityNotFoundException", said, register, SchemaId=other, SchemaDefinition=FIRST)
    said = "Schema definition of AVRO data format is invalid: the definition is not JSON"
    fails("InvalidInputException", said, register, SchemaId=readings, SchemaDefinition="{")


def test_a_refused_version_takes_a_number_and_is_never_the_latest(glue, schema):
    readings = schema()

    refused = glue.register_schema_version(SchemaId=readings, SchemaDefinition=REFUSED)
    latest = glue.get_schema_version(SchemaId=readings, SchemaVersionNumber={"LatestVersion": True})
    shown = glue.get_schema(SchemaId=readings)
    by_definition = glue.get_schema_by_definition(SchemaId=readings, SchemaDefinition=REFUSED)
    accepted = glue.register_schema_version(SchemaId=readings, SchemaDefinition=SECOND)

    assert (refused["VersionNumber"], refused["Status"]) == (2, "FAILURE")
    assert latest["VersionNumber"] == 1
    assert (shown["LatestSchemaVersion"], shown["NextSchemaVersion"]) == (1, 2)
    assert by_definition["Status"] == "FAILURE"
    assert by_definition["SchemaVersionId"] == refused["SchemaVersionId"]
    assert (accepted["VersionNumber"], accepted["Status"]) == (3, "AVAILABLE")


def test_a_version_is_read_by_id_number_or_as_the_latest(glue, schema):
    readings = schema(FIRST, SECOND)
    by_number = read_number(glue, readings, 2)
    by_id = glue.get_schema_version(SchemaVersionId=by_number["SchemaVersionId"])
    latest = glue.get_schema_version(SchemaId=readings, SchemaVersionNumber={"LatestVersion": True})

    for answer in (by_number, by_id, latest):
        del answer["ResponseMetadata"]
    assert by_number == by_id == latest
    assert by_number["CreatedTime"].endswith("Z")
    missing = "Schema version is not found."
    get = glue.get_schema_version
    fails("EntityNotFoundException", missing, get, SchemaVersionId=UNKNOWN)
    third = {"VersionNumber": 3}
    fails("EntityNotFoundException", missing, get, SchemaId=readings, SchemaVersionNumber=third)
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    fails("EntityNotFoundException", said, get, SchemaId=other, SchemaVersionNumber=third)
    fails("InvalidInputException", "One of SchemaVersionId and SchemaId is needed.", get)


def test_a_missing_definition_and_a_missing_schema_are_different_errors(glue, schema):
    readings = schema()
    find = glue.get_schema_by_definition

    found = find(SchemaId=readings, SchemaDefinition=FIRST)
    assert (found["DataFormat"], found["Status"]) == ("AVRO", "AVAILABLE")
    said = "Schema version is not found."
    fails("EntityNotFoundException", said, find, SchemaId=readings, SchemaDefinition=SECOND)
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    fails("EntityNotFoundException", said, find, SchemaId=other, SchemaDefinition=FIRST)


def test_versions_are_listed_whatever_their_status(glue, schema):
    readings = schema(FIRST, REFUSED, SECOND)

    pages = glue.get_paginator("list_schema_versions").paginate(
        SchemaId=readings, PaginationConfig={"PageSize": 2}
    )

    found = [
        [(each["VersionNumber"], each["Status"]) for each in page["Schemas"]] for page in pages
    ]
    assert found == [[(1, "AVAILABLE"), (2, "FAILURE")], [(3, "AVAILABLE")]]
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    fails("EntityNotFoundException", said, glue.list_schema_versions, SchemaId=other)


def test_versions_are_deleted_by_number_and_range(glue, schema):
    definitions = [avro(id="string", **{f"f{number}": "long?"}) for number in range(5)]
    readings = schema(*definitions)

    def delete(versions):
        answer = glue.delete_schema_versions(SchemaId=readings, Versions=versions)
        return [
            (each["VersionNumber"], each["ErrorDetails"]["ErrorCode"])
            for each in answer["SchemaVersionErrors"]
        ]

    assert delete("5") == []
    assert delete("2-3") == []
    assert delete("3-4") == [(3, "EntityNotFoundException")]
    left = glue.list_schema_versions(SchemaId=readings)["Schemas"]
    assert [each["VersionNumber"] for each in left] == [1]
    again = glue.register_schema_version(SchemaId=readings, SchemaDefinition=definitions[4])
    assert again["VersionNumber"] == 6


def test_a_deleted_version_is_gone_with_its_metadata(glue, schema):
    readings = schema(FIRST, SECOND)
    deleted = {"SchemaVersionId": read_number(glue, readings, 2)["SchemaVersionId"]}
    pair = {"MetadataKey": "owner", "MetadataValue": "one"}
    glue.put_schema_version_metadata(**deleted, MetadataKeyValue=pair)

    glue.delete_schema_versions(SchemaId=readings, Versions="2")

    said, query = "Schema version is not found.", glue.query_schema_version_metadata
    fails("EntityNotFoundException", said, glue.get_schema_version, **deleted)
    fails("EntityNotFoundException", said, query, **deleted)
    again = glue.register_schema_version(SchemaId=readings, SchemaDefinition=SECOND)
    assert query(SchemaVersionId=again["SchemaVersionId"])["MetadataInfoMap"] == {}


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ("1", "Version 1 can be deleted only with its schema."),
        ("2-3", "Version 2 is the checkpoint and cannot be deleted."),
        ("3-2", "Versions 3-2 is not a range"),
        ("two", "1 validation error detected: Value 'two' at 'versions' failed to satisfy"),
    ],
)
def test_versions_that_are_needed_are_not_deleted(glue, schema, versions, message):
    readings = schema(FIRST, SECOND, avro(id="string", u="long?"))
    glue.update_schema(SchemaId=readings, SchemaVersionNumber={"VersionNumber": 2})

    fails(
        "InvalidInputException",
        message,
        glue.delete_schema_versions,
        SchemaId=readings,
        Versions=versions,
    )
    assert len(glue.list_schema_versions(SchemaId=readings)["Schemas"]) == 3


def test_two_versions_are_compared(glue, schema):
    readings = schema(avro(a="long", b="long?"), avro(a="string"), mode="NONE")
    numbers = {
        "FirstSchemaVersionNumber": {"VersionNumber": 1},
        "SecondSchemaVersionNumber": {"LatestVersion": True},
    }

    found = glue.get_schema_versions_diff(
        SchemaId=readings, SchemaDiffType="SYNTAX_DIFF", **numbers
    )

    assert json.loads(found["Diff"]) == [
        {"op": "remove", "path": "/fields/1"},
        {"op": "replace", "path": "/fields/0/type", "value": "string"},
    ]
    fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        glue.get_schema_versions_diff,
        SchemaId=readings,
        SchemaDiffType="SYNTAX_DIFF",
        **numbers | {"SecondSchemaVersionNumber": {"VersionNumber": 7}},
    )
    messages = schema(MESSAGE, data_format="PROTOBUF", name="messages")
    fails(
        "InvalidInputException",
        "Definitions of PROTOBUF data format cannot be compared as JSON.",
        glue.get_schema_versions_diff,
        SchemaId=messages,
        SchemaDiffType="SYNTAX_DIFF",
        **numbers,
    )


def test_the_quota_counts_the_versions_of_all_schemas(glue, schema, settings):
    settings(version_quota=2)
    readings = schema(name="a")
    schema(name="b")

    said = "the registry holds 2 schema versions and takes no more."
    code = "ResourceNumberLimitExceededException"
    register = glue.register_schema_version
    fails(code, said, register, SchemaId=readings, SchemaDefinition=SECOND)
    with pytest.raises(glue.exceptions.ResourceNumberLimitExceededException):
        schema(name="c")
    assert register(SchemaId=readings, SchemaDefinition=FIRST)["VersionNumber"] == 1
