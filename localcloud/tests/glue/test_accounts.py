"""A consumer reads the producer's schemas with a role of the producer's account, and no more."""

from __future__ import annotations

import json

import pytest

from penstock import credentials
from penstock.errors import RegistryAccessDeniedError, SchemaForbiddenError
from penstock.framing import SchemaKey
from penstock.registry import load_registry

_CONSUMER = "222222222222"
_FIRST = {"type": "record", "name": "Reading", "fields": [{"name": "id", "type": "string"}]}


@pytest.fixture
def reader_role(client, account):
    """Make a role that the consumer may take with an external id, to read versions."""
    iam = client("iam", account=account)
    trust = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{_CONSUMER}:root"},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"sts:ExternalId": "agreed"}},
    }
    allow = {"Effect": "Allow", "Action": "glue:GetSchemaVersion", "Resource": "*"}
    role = iam.create_role(RoleName="reader", AssumeRolePolicyDocument=_policy(trust))["Role"]
    iam.put_role_policy(RoleName="reader", PolicyName="read", PolicyDocument=_policy(allow))
    return role["Arn"]


def _policy(statement):
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@pytest.fixture
def consume(cloud, reader_role, monkeypatch):
    """Open the registry `plant` as a program in the consumer's account does."""
    credentials._build_session.cache_clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", _CONSUMER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    role = f"role_arn={reader_role}"
    yield lambda external_id: load_registry(
        f"glue://plant?region=eu-central-1&{role}&external_id={external_id}"
    )
    credentials._build_session.cache_clear()


def test_a_role_of_the_producer_reads_versions_by_id(glue, schema, consume):
    made = glue.get_schema_by_definition(
        SchemaId=schema(json.dumps(_FIRST)), SchemaDefinition=json.dumps(_FIRST)
    )
    registry = consume("agreed")

    version = registry.get(SchemaKey.parse(made["SchemaVersionId"]))

    assert made["SchemaArn"].endswith(f"/{version.name}")
    assert version.schema == _FIRST
    with pytest.raises(RegistryAccessDeniedError, match="not authorized to perform: glue:"):
        registry.register("readings", _FIRST)


def test_a_caller_without_the_external_id_reads_nothing(glue, schema, consume):
    schema()

    with pytest.raises(RegistryAccessDeniedError, match="sts:AssumeRole with AccessDenied"):
        consume("guessed").versions("readings")


def test_the_role_reads_no_schema_that_is_not_on_the_allow_list(glue, consume):
    glue.create_registry(RegistryName="payroll")
    made = glue.create_schema(
        RegistryId={"RegistryName": "payroll"},
        SchemaName="salaries",
        DataFormat="AVRO",
        SchemaDefinition=json.dumps(_FIRST),
    )

    with pytest.raises(SchemaForbiddenError, match="belongs to payroll/salaries"):
        consume("agreed").get(made["SchemaVersionId"])
