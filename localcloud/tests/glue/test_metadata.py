"""Metadata of versions, by boto3."""

from __future__ import annotations

from tests.glue.definitions import UNKNOWN, read_number
from tests.refusals import fails


def _pair(key, value):
    return {"MetadataKeyValue": {"MetadataKey": key, "MetadataValue": value}}


def test_metadata_is_put_asked_for_and_removed(glue, schema):
    readings = schema()
    version_id = read_number(glue, readings, 1)["SchemaVersionId"]
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


def test_invalid_metadata_is_rejected(glue, schema):
    version = {"SchemaVersionId": read_number(glue, schema(), 1)["SchemaVersionId"]}
    put, remove = glue.put_schema_version_metadata, glue.remove_schema_version_metadata
    for number in range(10):
        put(**version, **_pair("key", str(number)))

    said = f"version {version['SchemaVersionId']} has 10 metadata pairs."
    fails("ResourceNumberLimitExceededException", said, put, **version, **_pair("key", "10"))
    said = "Resource already exist for schema version id: "
    fails("AlreadyExistsException", said, put, **version, **_pair("key", "9"))
    said = "1 validation error detected: Value 'a key' at 'metadataKeyValue.metadataKey' failed"
    fails("InvalidInputException", said, put, **version, **_pair("a key", "9"))
    said = "Metadata is not found."
    fails("EntityNotFoundException", said, remove, **version, **_pair("key", "10"))
    said = "Schema version is not found."
    query = glue.query_schema_version_metadata
    fails("EntityNotFoundException", said, query, SchemaVersionId=UNKNOWN)
