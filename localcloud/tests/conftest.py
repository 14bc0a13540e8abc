"""Two accounts that are joined, for each module that asks for them."""

from __future__ import annotations

import json
import urllib.request

import pytest

from localcloud.network import load_network
from localcloud.quotas import CONCURRENT_EXECUTIONS
from localcloud.testing.clients import client, cloud
from tests.two_accounts import TwoAccounts

__all__ = ["client", "cloud"]


@pytest.fixture(scope="module")
def accounts(cloud, client, request):
    """Both accounts; the module names the brokers' ZONE and says how many BROKERS, if not one."""
    brokers = getattr(request.module, "BROKERS", 1)
    made = TwoAccounts(cloud, client, request.module.ZONE, brokers=brokers)
    yield made
    made.close()


@pytest.fixture(scope="module")
def network(cloud):
    """What resolves and routes in the VPCs of both."""
    return load_network(cloud)


@pytest.fixture
def control(cloud):
    """Ask localcloud itself, at its control door."""

    def call(name, /, **arguments):
        request = urllib.request.Request(
            f"{cloud.endpoint}/_localcloud/{name}",
            json.dumps(arguments).encode() if arguments else None,
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    return call


@pytest.fixture
def set_quota(control):
    """Set a quota of an account."""

    def set_to(account, quota, value):
        return control("set-quota", account=account, quota=quota.code, value=value)

    return set_to


@pytest.fixture
def set_limit(set_quota):
    """Set how many functions may run at once in an account."""
    return lambda account, limit: set_quota(account, CONCURRENT_EXECUTIONS, limit)


@pytest.fixture
def raised_limit(client, set_limit):
    """The limit that AWS gives an account with use, for the account of the usual clients."""
    account = client("sts").get_caller_identity()["Account"]
    set_limit(account, 1_000)
    yield
    set_limit(account, 10)
