"""One localcloud for all tests of a session, and boto3 clients of any account in it."""

from __future__ import annotations

import boto3
import pytest

from localcloud.server import start_server


@pytest.fixture(scope="session")
def cloud(tmp_path_factory):
    """A localcloud on a free port of this process."""
    server = start_server(tmp_path_factory.mktemp("localcloud"), 0)
    yield server.cloud
    server.stop()


@pytest.fixture(scope="session")
def client(cloud):
    """Make a boto3 client of an account: `client("glue", account="222222222222")`."""

    def make(service, account="111111111111", region="eu-central-1", **settings):
        keys = {"aws_access_key_id": account, "aws_secret_access_key": "any"}
        return boto3.client(
            service, endpoint_url=cloud.endpoint, region_name=region, **(keys | settings)
        )

    return make
