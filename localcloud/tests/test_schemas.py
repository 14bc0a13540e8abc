"""Schema registries of EventBridge keep what Lambda's console shows as shareable test events."""

from __future__ import annotations

import contextlib
import json

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust

REGISTRY = {"RegistryName": "lambda-testevent-schemas"}
SCHEMA = REGISTRY | {"SchemaName": "_sensor-schema"}
CONTENT = json.dumps({"openapi": "3.0.0", "components": {"examples": {"Empty": {"value": {}}}}})


@pytest.fixture
def schemas(client):
    return client("schemas")


@pytest.fixture
def schema(schemas):
    """A schema in a registry."""
    schemas.create_registry(**REGISTRY)
    yield schemas.create_schema(**SCHEMA, Type="OpenApi3", Content=CONTENT, Tags={"team": "a"})
    with contextlib.suppress(schemas.exceptions.NotFoundException):  # the test deleted it
        schemas.delete_schema(**SCHEMA)
        schemas.delete_registry(**REGISTRY)


def test_a_schema_is_created_changed_and_deleted(schemas, schema):
    assert schema["SchemaArn"].endswith(":schema/lambda-testevent-schemas/_sensor-schema")
    assert schemas.describe_schema(**SCHEMA)["Content"] == CONTENT

    changed = schemas.update_schema(**SCHEMA, Content="{}", Description="events")
    assert (changed["SchemaVersion"], changed["Description"]) == ("2", "events")
    (listed,) = schemas.list_schemas(**REGISTRY)["Schemas"]
    assert (listed["SchemaName"], listed["VersionCount"]) == ("_sensor-schema", 2)

    with pytest.raises(ClientError, match=r"BadRequestException.* contains schemas"):
        schemas.delete_registry(**REGISTRY)
    schemas.delete_schema(**SCHEMA)
    schemas.delete_registry(**REGISTRY)
    with pytest.raises(ClientError, match="NotFoundException"):
        schemas.describe_registry(**REGISTRY)


def test_tags_are_kept_and_changed(schemas, schema):
    arn = schema["SchemaArn"]
    schemas.tag_resource(ResourceArn=arn, Tags={"cost": "1"})
    schemas.untag_resource(ResourceArn=arn, TagKeys=["team", "absent"])

    assert schemas.list_tags_for_resource(ResourceArn=arn)["Tags"] == {"cost": "1"}
    with pytest.raises(ClientError, match=r"NotFoundException.*Resource .*other does not exist"):
        schemas.list_tags_for_resource(ResourceArn=f"{arn}-other")


@pytest.mark.usefixtures("schema")
def test_a_name_is_used_once_and_content_is_json(schemas):
    with pytest.raises(ClientError, match="ConflictException"):
        schemas.create_registry(**REGISTRY)
    with pytest.raises(ClientError, match="ConflictException"):
        schemas.create_schema(**SCHEMA, Type="OpenApi3", Content="{}")
    with pytest.raises(ClientError, match=r"BadRequestException.*not JSON"):
        schemas.update_schema(**SCHEMA, Content="{")
    with pytest.raises(ClientError, match="NotFoundException"):
        schemas.describe_schema(**REGISTRY, SchemaName="other")


@pytest.mark.usefixtures("schema")
def test_a_role_is_judged_by_registry_and_schema(client):
    account = "111111111111"
    iam, sts = client("iam", account=account), client("sts", account=account)
    role = make_role(iam, trust(account))
    keys = keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    acting = client("schemas", **keys)
    with pytest.raises(ClientError, match=r"schemas:DescribeSchema on resource: .*:schema/lambda"):
        acting.describe_schema(**SCHEMA)
    with pytest.raises(ClientError, match=r"schemas:DeleteRegistry on resource: .*:registry/lamb"):
        acting.delete_registry(**REGISTRY)

    place = f"arn:aws:schemas:eu-central-1:{account}"
    on = f"{place}:schema/lambda-testevent-schemas/*"
    allow_role(role, iam, allow("schemas:DescribeSchema", on))
    assert acting.describe_schema(**SCHEMA)["SchemaVersion"] == "1"
