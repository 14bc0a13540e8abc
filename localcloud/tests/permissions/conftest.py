"""A role of the consumer that may do nothing yet, and clients that act as it."""

from __future__ import annotations

import pytest

from localcloud.testing.policies import keys_of, make_role, trust
from tests.account_ids import CONSUMER


@pytest.fixture
def iam(client):
    return client("iam", account=CONSUMER)


@pytest.fixture
def role(iam):
    """A role of the consumer that may do nothing yet."""
    return make_role(iam, trust(CONSUMER))


@pytest.fixture
def acting(client, role):
    """Make clients that act as the role."""
    sts = client("sts", account=CONSUMER)
    keys = keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    return lambda service: client(service, **keys)
