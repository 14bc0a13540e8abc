"""An account of the registry for each test, and what makes schemas in it."""

from __future__ import annotations

import itertools

import pytest
import urllib3
from botocore.config import Config

from tests.glue.definitions import FIRST

_NUMBERS = itertools.count(1)


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
        first, *others = definitions or (FIRST,)
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
