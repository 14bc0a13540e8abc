"""A consumer reads the producer's schemas with a role of the producer's account, and no more."""

from __future__ import annotations

import pytest

from localcloud.testing.policies import allow, keys_of, make_role, trust
from tests.account_ids import CONSUMER
from tests.glue.definitions import FIRST
from tests.refusals import refusal


@pytest.fixture
def reader_role(client, account):
    """Make a role that the consumer may take with an external id, to read versions."""
    asked = {"StringEquals": {"sts:ExternalId": "agreed"}}
    trusting = trust(f"arn:aws:iam::{CONSUMER}:root", Condition=asked)
    return make_role(client("iam", account=account), trusting, allow("glue:GetSchemaVersion"))


@pytest.fixture
def take_role(client, reader_role):
    """Take the role in the consumer's account; a function of the external id."""
    sts = client("sts", account=CONSUMER)
    given = {"RoleArn": reader_role, "RoleSessionName": "consumer"}
    return lambda external_id: sts.assume_role(**given, ExternalId=external_id)["Credentials"]


def test_a_role_of_the_producer_reads_versions_by_id(client, glue, schema, take_role):
    made = glue.get_schema_by_definition(SchemaId=schema(FIRST), SchemaDefinition=FIRST)
    reader = client("glue", **keys_of(take_role("agreed")))

    version = reader.get_schema_version(SchemaVersionId=made["SchemaVersionId"])

    assert (version["SchemaArn"], version["SchemaDefinition"]) == (made["SchemaArn"], FIRST)
    code, message = refusal(
        lambda: reader.register_schema_version(
            SchemaId={"SchemaArn": made["SchemaArn"]}, SchemaDefinition=FIRST
        )
    )
    assert code == "AccessDeniedException"
    assert "not authorized to perform: glue:RegisterSchemaVersion" in message


def test_a_caller_without_the_external_id_is_no_reader(take_role):
    code, message = refusal(lambda: take_role("guessed"))

    assert code == "AccessDenied"
    assert "not authorized to perform: sts:AssumeRole" in message
