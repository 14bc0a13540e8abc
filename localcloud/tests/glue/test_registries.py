"""Registries, their tags and their accounts, by boto3."""

from __future__ import annotations

import pytest

from tests.glue.definitions import read_number
from tests.refusals import fails


def test_a_registry_is_made_once_and_described(glue, account):
    made = glue.create_registry(RegistryName="depot", Description="of depots", Tags={"a": "b"})
    assert made["RegistryArn"] == f"arn:aws:glue:eu-central-1:{account}:registry/depot"
    for wanted in ({"RegistryName": "depot"}, {"RegistryArn": made["RegistryArn"]}):
        found = glue.get_registry(RegistryId=wanted)
        assert (found["Description"], found["Status"]) == ("of depots", "AVAILABLE")
    assert glue.get_tags(ResourceArn=made["RegistryArn"])["Tags"] == {"a": "b"}

    fails(
        "AlreadyExistsException",
        "Registry already exists. RegistryName: depot",
        glue.create_registry,
        RegistryName="depot",
    )
    fails(
        "EntityNotFoundException",
        "Registry is not found.",
        glue.get_registry,
        RegistryId={"RegistryName": "other"},
    )
    elsewhere = made["RegistryArn"].replace("eu-central-1", "eu-west-1")
    fails(
        "EntityNotFoundException",
        "Registry is not found.",
        glue.get_registry,
        RegistryId={"RegistryArn": elsewhere},
    )
    fails("InvalidInputException", "RegistryId needs one of", glue.get_registry, RegistryId={})


@pytest.mark.parametrize("name", ["two words", "a/b", "ü", "x" * 256])
def test_a_name_out_of_its_pattern_is_refused(glue, name):
    fails(
        "InvalidInputException",
        f"1 validation error detected: Value '{name[:100]}' at 'registryName' failed to satisfy",
        glue.create_registry,
        RegistryName=name,
    )


def test_an_account_has_100_registries(glue):
    for number in range(99):
        glue.create_registry(RegistryName=f"r{number}")

    fails(
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
    fails("InvalidInputException", "NextToken 'x' is unknown", glue.list_registries, NextToken="x")
    said = "1 validation error detected: Value '101' at 'maxResults' failed to satisfy constraint: "
    fails("InvalidInputException", said, glue.list_registries, MaxResults=101)


def test_a_registry_gets_another_description(glue):
    before = glue.get_registry(RegistryId={"RegistryName": "plant"})
    glue.update_registry(RegistryId={"RegistryName": "plant"}, Description="new")

    after = glue.get_registry(RegistryId={"RegistryName": "plant"})
    assert (before.get("Description"), after["Description"]) == (None, "new")
    assert after["UpdatedTime"] >= after["CreatedTime"] == before["CreatedTime"]
    other = {"RegistryName": "other"}
    said = "Registry is not found."
    fails("EntityNotFoundException", said, glue.update_registry, RegistryId=other, Description="")


def test_a_registry_goes_with_its_schemas(glue, schema):
    schema()
    plant = {"RegistryName": "plant"}

    assert glue.delete_registry(RegistryId=plant)["Status"] == "DELETING"

    assert glue.list_schemas()["Schemas"] == []
    said = "Registry is not found."
    fails("EntityNotFoundException", said, glue.delete_registry, RegistryId=plant)


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
        fails("EntityNotFoundException", said, call, ResourceArn=f"{arn}x", **more)


def test_tags_of_the_rest_of_glue_are_kept_too(glue, account):
    glue.create_database(DatabaseInput={"Name": "lake"})
    arn = f"arn:aws:glue:eu-central-1:{account}:database/lake"

    glue.tag_resource(ResourceArn=arn, TagsToAdd={"a": "1", "b": "2"})
    glue.untag_resource(ResourceArn=arn, TagsToRemove=["a"])

    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"b": "2"}


def test_another_account_and_another_region_see_nothing(client, glue, schema):
    version_id = read_number(glue, schema(), 1)["SchemaVersionId"]
    arn = glue.get_schema(SchemaId=schema(name="more"))["SchemaArn"]
    stranger = client("glue", account="222222222222")

    assert client("glue", region="eu-west-1").list_registries()["Registries"] == []
    fails(
        "EntityNotFoundException",
        "Schema version is not found.",
        stranger.get_schema_version,
        SchemaVersionId=version_id,
    )
    fails("AccessDeniedException", "User: ", stranger.get_schema, SchemaId={"SchemaArn": arn})
