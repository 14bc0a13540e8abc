"""Two accounts that are joined, for each module that asks for them."""

from __future__ import annotations

import pytest

from localcloud.network import load_network
from localcloud.tests.two_accounts import TwoAccounts


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
