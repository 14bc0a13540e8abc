"""Schemas, by boto3: made, described, listed, updated, deleted."""

from __future__ import annotations

import pytest

from tests.glue.definitions import FIRST, REFUSED, SECOND, read_number
from tests.refusals import fails


def test_a_schema_is_made_with_its_first_version(glue, account):
    made = glue.create_schema(
        RegistryId={"RegistryName": "plant"},
        SchemaName="readings",
        DataFormat="AVRO",
        Compatibility="FULL_ALL",
        SchemaDefinition=FIRST,
        Description="of meters",
        Tags={"team": "one"},
    )

    arn = f"arn:aws:glue:eu-central-1:{account}:schema/plant/readings"
    assert (made["SchemaArn"], made["SchemaVersionStatus"]) == (arn, "AVAILABLE")
    assert made["Tags"] == glue.get_tags(ResourceArn=arn)["Tags"] == {"team": "one"}
    found = glue.get_schema(SchemaId={"SchemaArn": arn})
    assert {name: found[name] for name in _SHOWN} == {
        "Compatibility": "FULL_ALL",
        "DataFormat": "AVRO",
        "Description": "of meters",
        "LatestSchemaVersion": 1,
        "NextSchemaVersion": 2,
        "SchemaCheckpoint": 1,
        "SchemaStatus": "AVAILABLE",
    }
    version = glue.get_schema_version(SchemaVersionId=made["SchemaVersionId"])
    assert (version["VersionNumber"], version["SchemaDefinition"]) == (1, FIRST)


_SHOWN = (
    "Compatibility",
    "DataFormat",
    "Description",
    "LatestSchemaVersion",
    "NextSchemaVersion",
    "SchemaCheckpoint",
    "SchemaStatus",
)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({}, "AlreadyExistsException", "Schema already exists. SchemaArn: arn:aws:glue:"),
        (
            {"RegistryId": {"RegistryName": "no"}},
            "EntityNotFoundException",
            "Registry is not found.",
        ),
        (
            {"Compatibility": "LOOSE"},
            "InvalidInputException",
            "1 validation error detected: Value 'LOOSE' at 'compatibility' failed to satisfy "
            "constraint: Member must satisfy enum value set: [NONE, DISABLED, ",
        ),
        (
            {"SchemaDefinition": '{"type": "wreckord"}'},
            "InvalidInputException",
            "Schema definition of AVRO data format is invalid: ",
        ),
        (
            {"SchemaDefinition": "[" + " " * 170_000},
            "InvalidInputException",
            "1 validation error detected: Value '[ ",
        ),
        (
            {"SchemaDefinition": None},
            "InvalidInputException",
            "localcloud requires SchemaDefinition",
        ),
    ],
)
def test_a_schema_that_cannot_be_made_is_refused(glue, schema, change, code, message):
    schema()
    asked = {
        "RegistryId": {"RegistryName": "plant"},
        "SchemaName": "readings",
        "DataFormat": "AVRO",
        "SchemaDefinition": FIRST,
    } | change
    given = {name: value for name, value in asked.items() if value is not None}

    fails(code, message, glue.create_schema, **given)


def test_the_default_registry_comes_with_its_first_schema(glue):
    glue.create_schema(SchemaName="readings", DataFormat="AVRO", SchemaDefinition=FIRST)

    found = glue.get_schema(SchemaId={"SchemaName": "readings"})
    assert (found["RegistryName"], found["Compatibility"]) == ("default-registry", "BACKWARD")
    fails(
        "InvalidInputException",
        "SchemaId needs either SchemaArn or SchemaName.",
        glue.get_schema,
        SchemaId={"RegistryName": "plant"},
    )


def test_schemas_are_listed_of_one_registry_or_all(glue, schema):
    schema(name="b")
    schema(name="a")
    glue.create_schema(SchemaName="c", DataFormat="AVRO", SchemaDefinition=FIRST)

    def names(**arguments):
        pages = glue.get_paginator("list_schemas").paginate(PaginationConfig={"PageSize": 1})
        if arguments:
            pages = glue.get_paginator("list_schemas").paginate(**arguments)
        return [each["SchemaName"] for page in pages for each in page["Schemas"]]

    assert names() == ["c", "a", "b"]
    assert names(RegistryId={"RegistryName": "plant"}) == ["a", "b"]
    other = {"RegistryName": "other"}
    said = "Registry is not found."
    fails("EntityNotFoundException", said, glue.list_schemas, RegistryId=other)


def test_updating_a_schema_moves_checkpoint_and_mode(glue, schema):
    readings = schema(FIRST, SECOND)

    glue.update_schema(
        SchemaId=readings,
        SchemaVersionNumber={"LatestVersion": True},
        Compatibility="FULL",
        Description="new",
    )

    found = glue.get_schema(SchemaId=readings)
    shown = (found["SchemaCheckpoint"], found["Compatibility"], found["Description"])
    assert shown == (2, "FULL", "new")
    glue.update_schema(SchemaId=readings, SchemaVersionNumber={"VersionNumber": 1})
    found = glue.get_schema(SchemaId=readings)
    shown = (found["SchemaCheckpoint"], found["Compatibility"], found["Description"])
    assert shown == (1, "FULL", "new")


def test_an_invalid_update_is_rejected(glue, schema):
    readings = schema(FIRST, REFUSED)

    def update(code, message, **arguments):
        fails(code, message, glue.update_schema, SchemaId=readings, **arguments)

    update(
        "InvalidInputException",
        "SchemaVersionNumber, the new checkpoint, is required",
        Compatibility="NONE",
    )
    update(
        "InvalidInputException",
        "Version 2 is FAILURE and cannot be a checkpoint.",
        SchemaVersionNumber={"VersionNumber": 2},
    )
    update(
        "EntityNotFoundException",
        "Schema version is not found.",
        SchemaVersionNumber={"VersionNumber": 9},
    )
    update(
        "InvalidInputException",
        "SchemaVersionNumber needs either",
        SchemaVersionNumber={"VersionNumber": 1, "LatestVersion": True},
    )
    assert glue.get_schema(SchemaId=readings)["Compatibility"] == "BACKWARD"


def test_a_schema_goes_with_its_versions(glue, schema):
    readings = schema()
    version_id = read_number(glue, readings, 1)["SchemaVersionId"]

    assert glue.delete_schema(SchemaId=readings)["Status"] == "DELETING"

    fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        glue.get_schema_version,
        SchemaVersionId=version_id,
    )
    fails("EntityNotFoundException", "Schema is not found.", glue.delete_schema, SchemaId=readings)
    assert read_number(glue, schema(), 1)["SchemaVersionId"] != version_id
