"""The pytest plug-in: fixtures for tests of code that uses AWS (localcloud/docs/testing.md)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from localcloud.testing import functions, waiting

if TYPE_CHECKING:  # a second, which runs without these fixtures need not spend
    from localcloud.cloud import Cloud
    from localcloud.testing.accounts import Account
    from localcloud.testing.clusters import KafkaTopic, MskCluster

_REGION = "eu-central-1"


@pytest.fixture(scope="session")
def localcloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Start localcloud in this process on a free port, one for the whole session."""
    from localcloud.door.server import start_server  # noqa: PLC0415 - see above

    server = start_server(tmp_path_factory.mktemp("localcloud"), 0)
    yield server.cloud
    server.stop()


@pytest.fixture(scope="session")
def account(localcloud: Cloud) -> Callable[..., Account]:
    """Return a function that gives an account: by its id, or one that nobody has used."""
    from localcloud.testing.accounts import Account  # noqa: PLC0415 - see above

    def give(id: str = "", region: str = _REGION) -> Account:
        return Account(id or f"9{secrets.randbelow(10**11):011}", region, localcloud.endpoint)

    return give


@pytest.fixture(scope="session")
def msk_cluster(localcloud: Cloud, account: Callable[..., Account]) -> Iterator[MskCluster]:
    """Run an MSK cluster of two brokers in an account of its own, one for the whole session."""
    from localcloud.testing.clusters import running_cluster  # noqa: PLC0415 - see above

    with running_cluster(localcloud, account()) as cluster:
        yield cluster


@pytest.fixture
def topic(msk_cluster: MskCluster) -> KafkaTopic:
    """Make a topic with one partition on the cluster."""
    from localcloud.testing.clusters import make_topic  # noqa: PLC0415 - see above

    return make_topic(msk_cluster)


@pytest.fixture(scope="session")
def deploy_function() -> Callable[..., str]:
    """Return a function that makes a Lambda function of source, in an account."""

    def make(account: Account, source: str = functions.ECHO, **settings: Any) -> str:
        return functions.deploy(account.client, source, **settings)

    return make


@pytest.fixture(scope="session")
def invoke() -> Callable[..., tuple[Any, str | None]]:
    """Return a function that invokes a Lambda function of an account."""

    def call(
        account: Account, name: str, event: Any = None, **settings: Any
    ) -> tuple[Any, str | None]:
        return functions.invoke(account.client, name, event, **settings)

    return call


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    """Return the function that waits for a condition."""
    return waiting.wait_until
