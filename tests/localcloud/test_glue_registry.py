"""The Glue Schema Registry, by boto3: each operation's effect and a refusal."""

from __future__ import annotations

import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import urllib3
from botocore.config import Config
from botocore.exceptions import ClientError

_NUMBERS = itertools.count(1)
_UNKNOWN = "00000000-0000-4000-8000-000000000000"
_JSON = '{"type": "object"}'


def avro(**fields):
    """Write a record schema; a type that ends with ? is optional."""
    described = [
        {"name": name, "type": ["null", type_[:-1]], "default": None}
        if type_.endswith("?")
        else {"name": name, "type": type_}
        for name, type_ in fields.items()
    ]
    return json.dumps({"type": "record", "name": "Reading", "fields": described})


_FIRST = avro(id="string")
_SECOND = avro(id="string", t="double?")
_REFUSED = avro(id="long")


@pytest.fixture
def account():
    """Give an account that nobody has used, so that lists and quotas are the test's own."""
    return f"9000{next(_NUMBERS):08}"


@pytest.fixture
def glue(client, account):
    """A client of an account with the registry `plant`."""
    glue = client("glue", account=account, config=Config(max_pool_connections=50))
    glue.create_registry(RegistryName="plant")
    return glue


@pytest.fixture
def settings(cloud, account):
    """Set how the account's registry behaves, through localcloud's own door."""

    def change(**members):
        address = f"{cloud.endpoint}/_localcloud/set-schema-registry"
        whose = {"account": account, "region": "eu-central-1"}
        return urllib3.request("POST", address, json=whose | members).json()

    return change


@pytest.fixture
def schema(glue):
    """Make the schema `readings` with the given versions, and give its id for calls."""

    def make(*definitions, mode="BACKWARD", name="readings", **more):
        first, *others = definitions or (_FIRST,)
        glue.create_schema(
            RegistryId={"RegistryName": "plant"},
            SchemaName=name,
            DataFormat=more.pop("data_format", "AVRO"),
            Compatibility=mode,
            SchemaDefinition=first,
            **more,
        )
        schema_id = {"RegistryName": "plant", "SchemaName": name}
        for each in others:
            glue.register_schema_version(SchemaId=schema_id, SchemaDefinition=each)
        return schema_id

    return make


def _fails(code, message, call, **arguments):
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    error = caught.value.response["Error"]
    assert (error["Code"], error["Message"][: len(message)]) == (code, message)


def _number(glue, schema_id, number):
    return glue.get_schema_version(
        SchemaId=schema_id, SchemaVersionNumber={"VersionNumber": number}
    )


# --- registries -------------------------------------------------------------------------------


def test_a_registry_is_made_once_and_described(glue, account):
    made = glue.create_registry(RegistryName="depot", Description="of depots", Tags={"a": "b"})
    assert made["RegistryArn"] == f"arn:aws:glue:eu-central-1:{account}:registry/depot"
    for wanted in ({"RegistryName": "depot"}, {"RegistryArn": made["RegistryArn"]}):
        found = glue.get_registry(RegistryId=wanted)
        assert (found["Description"], found["Status"]) == ("of depots", "AVAILABLE")
    assert glue.get_tags(ResourceArn=made["RegistryArn"])["Tags"] == {"a": "b"}

    _fails(
        "AlreadyExistsException",
        "Registry already exists. RegistryName: depot",
        glue.create_registry,
        RegistryName="depot",
    )
    _fails(
        "EntityNotFoundException",
        "Registry is not found.",
        glue.get_registry,
        RegistryId={"RegistryName": "other"},
    )
    _fails("InvalidInputException", "RegistryId needs one of", glue.get_registry, RegistryId={})


@pytest.mark.parametrize("name", ["two words", "a/b", "ü", "x" * 256])
def test_a_name_out_of_its_pattern_is_refused(glue, name):
    _fails(
        "InvalidInputException",
        f"1 validation error detected: Value '{name[:100]}' at 'registryName' failed to satisfy",
        glue.create_registry,
        RegistryName=name,
    )


def test_an_account_has_100_registries(glue):
    for number in range(99):
        glue.create_registry(RegistryName=f"r{number}")

    _fails(
        "ResourceNumberLimitExceededException",
        "The account has 100 registries in this Region and takes no more.",
        glue.create_registry,
        RegistryName="one-more",
    )


def test_registries_are_listed_page_by_page(glue):
    for name in ("c", "a", "b"):
        glue.create_registry(RegistryName=name)

    first = glue.list_registries(MaxResults=2)
    second = glue.list_registries(MaxResults=2, NextToken=first["NextToken"])

    names = [[each["RegistryName"] for each in page["Registries"]] for page in (first, second)]
    assert names == [["a", "b"], ["c", "plant"]]
    assert "NextToken" not in second
    _fails("InvalidInputException", "NextToken 'x' is not", glue.list_registries, NextToken="x")
    said = "1 validation error detected: Value '101' at 'maxResults' failed to satisfy constraint: "
    _fails("InvalidInputException", said, glue.list_registries, MaxResults=101)


def test_a_registry_gets_another_description(glue):
    before = glue.get_registry(RegistryId={"RegistryName": "plant"})
    glue.update_registry(RegistryId={"RegistryName": "plant"}, Description="new")

    after = glue.get_registry(RegistryId={"RegistryName": "plant"})
    assert (before.get("Description"), after["Description"]) == (None, "new")
    assert after["UpdatedTime"] >= after["CreatedTime"] == before["CreatedTime"]
    other = {"RegistryName": "other"}
    said = "Registry is not found."
    _fails("EntityNotFoundException", said, glue.update_registry, RegistryId=other, Description="")


def test_a_registry_goes_with_its_schemas(glue, schema):
    schema()
    plant = {"RegistryName": "plant"}

    assert glue.delete_registry(RegistryId=plant)["Status"] == "DELETING"

    assert glue.list_schemas()["Schemas"] == []
    said = "Registry is not found."
    _fails("EntityNotFoundException", said, glue.delete_registry, RegistryId=plant)


# --- schemas ----------------------------------------------------------------------------------


def test_a_schema_is_made_with_its_first_version(glue, account):
    made = glue.create_schema(
        RegistryId={"RegistryName": "plant"},
        SchemaName="readings",
        DataFormat="AVRO",
        Compatibility="FULL_ALL",
        SchemaDefinition=_FIRST,
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
    assert (version["VersionNumber"], version["SchemaDefinition"]) == (1, _FIRST)


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
        ({"SchemaDefinition": None}, "InvalidInputException", "localcloud makes no schema without"),
    ],
)
def test_a_schema_that_cannot_be_made_is_refused(glue, schema, change, code, message):
    schema()
    asked = {
        "RegistryId": {"RegistryName": "plant"},
        "SchemaName": "readings",
        "DataFormat": "AVRO",
        "SchemaDefinition": _FIRST,
    } | change
    given = {name: value for name, value in asked.items() if value is not None}

    _fails(code, message, glue.create_schema, **given)


def test_the_default_registry_comes_with_its_first_schema(glue):
    glue.create_schema(SchemaName="readings", DataFormat="AVRO", SchemaDefinition=_FIRST)

    found = glue.get_schema(SchemaId={"SchemaName": "readings"})
    assert (found["RegistryName"], found["Compatibility"]) == ("default-registry", "BACKWARD")
    _fails(
        "InvalidInputException",
        "SchemaId needs either SchemaArn or SchemaName.",
        glue.get_schema,
        SchemaId={"RegistryName": "plant"},
    )


def test_schemas_are_listed_of_one_registry_or_all(glue, schema):
    schema(name="b")
    schema(name="a")
    glue.create_schema(SchemaName="c", DataFormat="AVRO", SchemaDefinition=_FIRST)

    def names(**arguments):
        pages = glue.get_paginator("list_schemas").paginate(PaginationConfig={"PageSize": 1})
        if arguments:
            pages = glue.get_paginator("list_schemas").paginate(**arguments)
        return [each["SchemaName"] for page in pages for each in page["Schemas"]]

    assert names() == ["c", "a", "b"]
    assert names(RegistryId={"RegistryName": "plant"}) == ["a", "b"]
    other = {"RegistryName": "other"}
    said = "Registry is not found."
    _fails("EntityNotFoundException", said, glue.list_schemas, RegistryId=other)


def test_updating_a_schema_moves_checkpoint_and_mode(glue, schema):
    readings = schema(_FIRST, _SECOND)

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


def test_an_update_that_cannot_be_is_refused(glue, schema):
    readings = schema(_FIRST, _REFUSED)

    def update(code, message, **arguments):
        _fails(code, message, glue.update_schema, SchemaId=readings, **arguments)

    update("InvalidInputException", "SchemaVersionNumber is needed", Compatibility="NONE")
    update(
        "InvalidInputException",
        "Version 2 is FAILURE and can be no checkpoint.",
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
    version_id = _number(glue, readings, 1)["SchemaVersionId"]

    assert glue.delete_schema(SchemaId=readings)["Status"] == "DELETING"

    _fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        glue.get_schema_version,
        SchemaVersionId=version_id,
    )
    _fails("EntityNotFoundException", "Schema is not found.", glue.delete_schema, SchemaId=readings)
    assert _number(glue, schema(), 1)["SchemaVersionId"] != version_id


# --- versions ---------------------------------------------------------------------------------


def test_the_same_text_is_the_same_version(glue, schema):
    readings = schema()

    answers = [
        glue.register_schema_version(SchemaId=readings, SchemaDefinition=each)
        for each in (_SECOND, _FIRST, _SECOND)
    ]

    assert [each["VersionNumber"] for each in answers] == [2, 1, 2]
    assert {each["Status"] for each in answers} == {"AVAILABLE"}
    said = "Schema is not found."
    other = {"RegistryName": "plant", "SchemaName": "other"}
    register = glue.register_schema_version
    _fails("EntityNotFoundException", said, register, SchemaId=other, SchemaDefinition=_FIRST)
    said = "Schema definition of AVRO data format is invalid: the definition is not JSON"
    _fails("InvalidInputException", said, register, SchemaId=readings, SchemaDefinition="{")


def test_a_refused_version_takes_a_number_and_is_never_the_latest(glue, schema):
    readings = schema()

    refused = glue.register_schema_version(SchemaId=readings, SchemaDefinition=_REFUSED)
    latest = glue.get_schema_version(SchemaId=readings, SchemaVersionNumber={"LatestVersion": True})
    shown = glue.get_schema(SchemaId=readings)
    by_definition = glue.get_schema_by_definition(SchemaId=readings, SchemaDefinition=_REFUSED)
    accepted = glue.register_schema_version(SchemaId=readings, SchemaDefinition=_SECOND)

    assert (refused["VersionNumber"], refused["Status"]) == (2, "FAILURE")
    assert latest["VersionNumber"] == 1
    assert (shown["LatestSchemaVersion"], shown["NextSchemaVersion"]) == (1, 2)
    assert by_definition["Status"] == "FAILURE"
    assert by_definition["SchemaVersionId"] == refused["SchemaVersionId"]
    assert (accepted["VersionNumber"], accepted["Status"]) == (3, "AVAILABLE")


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
            _fails("InvalidInputException", said, glue.register_schema_version, **arguments)
        elif glue.register_schema_version(**arguments)["Status"] == "AVAILABLE":
            seen.add(case)

    assert seen == accepted


@pytest.mark.parametrize(
    ("compared_with", "status"),
    [("checkpoint", "AVAILABLE"), ("previous", "FAILURE"), ("both", "FAILURE")],
)
def test_both_readings_of_what_a_version_is_compared_with(
    glue, schema, settings, compared_with, status
):
    settings(compared_with=compared_with)
    readings = schema(_FIRST, avro(id="string", t="double?"))

    third = glue.register_schema_version(
        SchemaId=readings, SchemaDefinition=avro(id="string", t="string?")
    )

    assert third["Status"] == status


def test_a_verdict_can_take_reads_or_time(glue, schema, settings):
    assert settings(pending_reads=2)["pending_reads"] == 2
    readings = schema(_FIRST, _REFUSED)
    statuses = [_number(glue, readings, 2)["Status"] for _ in range(3)]
    assert statuses == ["PENDING", "PENDING", "FAILURE"]

    settings(pending_reads=0, pending_seconds=0.3)
    started = time.monotonic()
    added = glue.register_schema_version(SchemaId=readings, SchemaDefinition=_SECOND)
    assert added["Status"] == "PENDING"
    while _number(glue, readings, 3)["Status"] == "PENDING":
        assert time.monotonic() < started + 5
    assert time.monotonic() >= started + 0.3


def test_settings_that_cannot_be_are_refused(settings):
    assert settings(compared_with="newest") == {
        "error": "compared_with is 'newest'; it must be one of checkpoint, previous, both"
    }
    assert settings(pending_reads=-1) == {"error": "pending_reads is -1; it must be 0 or more"}


def test_a_version_is_read_by_id_number_or_as_the_latest(glue, schema):
    readings = schema(_FIRST, _SECOND)
    by_number = _number(glue, readings, 2)
    by_id = glue.get_schema_version(SchemaVersionId=by_number["SchemaVersionId"])
    latest = glue.get_schema_version(SchemaId=readings, SchemaVersionNumber={"LatestVersion": True})

    for answer in (by_number, by_id, latest):
        del answer["ResponseMetadata"]
    assert by_number == by_id == latest
    assert by_number["CreatedTime"].endswith("Z")
    missing = "Schema version is not found."
    get = glue.get_schema_version
    _fails("EntityNotFoundException", missing, get, SchemaVersionId=_UNKNOWN)
    third = {"VersionNumber": 3}
    _fails("EntityNotFoundException", missing, get, SchemaId=readings, SchemaVersionNumber=third)
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    _fails("EntityNotFoundException", said, get, SchemaId=other, SchemaVersionNumber=third)
    _fails("InvalidInputException", "One of SchemaVersionId and SchemaId is needed.", get)


def test_a_definition_that_is_not_there_is_told_apart_from_a_schema(glue, schema):
    readings = schema()
    find = glue.get_schema_by_definition

    found = find(SchemaId=readings, SchemaDefinition=_FIRST)
    assert (found["DataFormat"], found["Status"]) == ("AVRO", "AVAILABLE")
    said = "Schema version is not found."
    _fails("EntityNotFoundException", said, find, SchemaId=readings, SchemaDefinition=_SECOND)
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    _fails("EntityNotFoundException", said, find, SchemaId=other, SchemaDefinition=_FIRST)


def test_versions_are_listed_whatever_their_status(glue, schema):
    readings = schema(_FIRST, _REFUSED, _SECOND)

    pages = glue.get_paginator("list_schema_versions").paginate(
        SchemaId=readings, PaginationConfig={"PageSize": 2}
    )

    found = [
        [(each["VersionNumber"], each["Status"]) for each in page["Schemas"]] for page in pages
    ]
    assert found == [[(1, "AVAILABLE"), (2, "FAILURE")], [(3, "AVAILABLE")]]
    other = {"RegistryName": "plant", "SchemaName": "other"}
    said = "Schema is not found."
    _fails("EntityNotFoundException", said, glue.list_schema_versions, SchemaId=other)


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


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ("1", "Version 1 is deleted with its schema only."),
        ("2-3", "Version 2 is the checkpoint and cannot be deleted."),
        ("3-2", "Versions 3-2 is no range"),
        ("two", "1 validation error detected: Value 'two' at 'versions' failed to satisfy"),
    ],
)
def test_versions_that_are_needed_are_not_deleted(glue, schema, versions, message):
    readings = schema(_FIRST, _SECOND, avro(id="string", u="long?"))
    glue.update_schema(SchemaId=readings, SchemaVersionNumber={"VersionNumber": 2})

    _fails(
        "InvalidInputException",
        message,
        glue.delete_schema_versions,
        SchemaId=readings,
        Versions=versions,
    )
    assert len(glue.list_schema_versions(SchemaId=readings)["Schemas"]) == 3


_MESSAGE = 'syntax = "proto3"; message Reading { string id = 1; }'


@pytest.mark.parametrize(
    ("data_format", "good", "bad", "problem"),
    [
        ("AVRO", _FIRST, '{"type": "wreckord"}', "found 'wreckord', expected a primitive type"),
        ("JSON", _JSON, "[]", "a JSON schema is an object, true or false"),
        ("JSON", "true", "{", "Expecting property name"),
        ("PROTOBUF", _MESSAGE, "message Reading {", "a Protocol Buffers schema has a message or"),
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
    _fails(
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
    assert _number(glue, readings, 2)["DataFormat"] == "JSON"


def test_protobuf_is_kept_and_a_verdict_on_it_not_made_up(glue, schema):
    free = schema(_MESSAGE, mode="NONE", data_format="PROTOBUF", name="free")
    held = schema(_MESSAGE, mode="BACKWARD", data_format="PROTOBUF", name="held")
    other = _MESSAGE.replace("1", "2")

    added = glue.register_schema_version(SchemaId=free, SchemaDefinition=other)
    same = glue.register_schema_version(SchemaId=held, SchemaDefinition=_MESSAGE)

    assert (added["VersionNumber"], same["VersionNumber"]) == (2, 1)
    _fails(
        "NotImplemented",
        "localcloud cannot compare PROTOBUF definitions, which the schema's mode BACKWARD asks for",
        glue.register_schema_version,
        SchemaId=held,
        SchemaDefinition=other,
    )


def test_two_versions_are_told_apart(glue, schema):
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
    _fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        glue.get_schema_versions_diff,
        SchemaId=readings,
        SchemaDiffType="SYNTAX_DIFF",
        **numbers | {"SecondSchemaVersionNumber": {"VersionNumber": 7}},
    )
    messages = schema(_MESSAGE, data_format="PROTOBUF", name="messages")
    _fails(
        "InvalidInputException",
        "Definitions of PROTOBUF data format cannot be told apart as JSON.",
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
    _fails(code, said, register, SchemaId=readings, SchemaDefinition=_SECOND)
    with pytest.raises(glue.exceptions.ResourceNumberLimitExceededException):
        schema(name="c")
    assert register(SchemaId=readings, SchemaDefinition=_FIRST)["VersionNumber"] == 1


# --- metadata and tags ------------------------------------------------------------------------


def _pair(key, value):
    return {"MetadataKeyValue": {"MetadataKey": key, "MetadataValue": value}}


def test_metadata_is_put_asked_for_and_removed(glue, schema):
    readings = schema()
    version_id = _number(glue, readings, 1)["SchemaVersionId"]
    first = {"SchemaId": readings, "SchemaVersionNumber": {"VersionNumber": 1}}

    put = glue.put_schema_version_metadata(SchemaVersionId=version_id, **_pair("owner", "one"))
    glue.put_schema_version_metadata(**first, **_pair("owner", "two"))
    glue.put_schema_version_metadata(**first, **_pair("site", "north"))

    assert (put["VersionNumber"], put["LatestVersion"], put["MetadataKey"]) == (1, True, "owner")
    found = glue.query_schema_version_metadata(SchemaVersionId=version_id)["MetadataInfoMap"]
    assert found["owner"]["MetadataValue"] == "two"
    assert [each["MetadataValue"] for each in found["owner"]["OtherMetadataValueList"]] == ["one"]
    assert found["site"]["CreatedTime"].endswith("Z")
    asked = [{"MetadataKey": "owner", "MetadataValue": "one"}, {"MetadataValue": "north"}]
    some = glue.query_schema_version_metadata(**first, MetadataList=asked)["MetadataInfoMap"]
    assert {key: each["MetadataValue"] for key, each in some.items()} == {
        "owner": "one",
        "site": "north",
    }
    glue.remove_schema_version_metadata(**first, **_pair("owner", "two"))
    page = glue.query_schema_version_metadata(**first, MaxResults=1)
    assert list(page["MetadataInfoMap"]) == ["owner"]
    rest = glue.query_schema_version_metadata(**first, NextToken=page["NextToken"])
    assert list(rest["MetadataInfoMap"]) == ["site"]


def test_metadata_that_cannot_be_is_refused(glue, schema):
    version = {"SchemaVersionId": _number(glue, schema(), 1)["SchemaVersionId"]}
    put, remove = glue.put_schema_version_metadata, glue.remove_schema_version_metadata
    for number in range(10):
        put(**version, **_pair("key", str(number)))

    said = f"version {version['SchemaVersionId']} has 10 metadata pairs."
    _fails("ResourceNumberLimitExceededException", said, put, **version, **_pair("key", "10"))
    said = "Resource already exist for schema version id: "
    _fails("AlreadyExistsException", said, put, **version, **_pair("key", "9"))
    said = "1 validation error detected: Value 'a key' at 'metadataKeyValue.metadataKey' failed"
    _fails("InvalidInputException", said, put, **version, **_pair("a key", "9"))
    said = "Metadata is not found."
    _fails("EntityNotFoundException", said, remove, **version, **_pair("key", "10"))
    said = "Schema version is not found."
    query = glue.query_schema_version_metadata
    _fails("EntityNotFoundException", said, query, SchemaVersionId=_UNKNOWN)


@pytest.mark.parametrize("kind", ["registry", "schema"])
def test_tags_come_and_go(glue, schema, kind):
    found = glue.get_schema(SchemaId=schema())
    arn = found["RegistryArn" if kind == "registry" else "SchemaArn"]

    glue.tag_resource(ResourceArn=arn, TagsToAdd={"a": "1", "b": "2"})
    glue.untag_resource(ResourceArn=arn, TagsToRemove=["a"])

    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"b": "2"}
    for call, more in (
        (glue.tag_resource, {"TagsToAdd": {}}),
        (glue.untag_resource, {"TagsToRemove": []}),
        (glue.get_tags, {}),
    ):
        said = "Resource is not found."
        _fails("EntityNotFoundException", said, call, ResourceArn=f"{arn}x", **more)


def test_tags_of_the_rest_of_glue_are_kept_too(glue, account):
    glue.create_database(DatabaseInput={"Name": "lake"})
    arn = f"arn:aws:glue:eu-central-1:{account}:database/lake"

    glue.tag_resource(ResourceArn=arn, TagsToAdd={"a": "1", "b": "2"})
    glue.untag_resource(ResourceArn=arn, TagsToRemove=["a"])

    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"b": "2"}


# --- accounts, and many at once ---------------------------------------------------------------


def test_another_account_and_another_region_see_nothing(client, glue, schema):
    version_id = _number(glue, schema(), 1)["SchemaVersionId"]
    arn = glue.get_schema(SchemaId=schema(name="more"))["SchemaArn"]
    stranger = client("glue", account="222222222222")

    assert client("glue", region="eu-west-1").list_registries()["Registries"] == []
    _fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        stranger.get_schema_version,
        SchemaVersionId=version_id,
    )
    _fails("AccessDeniedException", "User: ", stranger.get_schema, SchemaId={"SchemaArn": arn})


def _at_once(count, call):
    barrier = Barrier(count)

    def one(number):
        barrier.wait()
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_fifty_who_register_one_definition_get_one_version(glue, schema):
    readings = schema()

    answers = _at_once(
        50, lambda _: glue.register_schema_version(SchemaId=readings, SchemaDefinition=_SECOND)
    )

    assert {(each["VersionNumber"], each["Status"]) for each in answers} == {(2, "AVAILABLE")}
    assert len({each["SchemaVersionId"] for each in answers}) == 1
    assert len(glue.list_schema_versions(SchemaId=readings)["Schemas"]) == 2


def test_fifty_who_register_different_definitions_get_consecutive_numbers(glue, schema):
    readings = schema(mode="FULL_ALL")

    answers = _at_once(
        50,
        lambda number: glue.register_schema_version(
            SchemaId=readings, SchemaDefinition=avro(id="string", **{f"f{number}": "long?"})
        ),
    )

    assert sorted(each["VersionNumber"] for each in answers) == list(range(2, 52))
    assert {each["Status"] for each in answers} == {"AVAILABLE"}
    assert len({each["SchemaVersionId"] for each in answers}) == 50


def test_of_fifty_who_create_one_schema_one_does(glue):
    def create(_):
        try:
            return glue.create_schema(
                RegistryId={"RegistryName": "plant"},
                SchemaName="readings",
                DataFormat="AVRO",
                SchemaDefinition=_FIRST,
            )["SchemaVersionId"]
        except glue.exceptions.AlreadyExistsException:
            return None

    assert len([each for each in _at_once(50, create) if each]) == 1
