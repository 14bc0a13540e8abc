"""Fixtures for every test: trials and seeds of randomised tests, and the two accounts."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable
from functools import cache

import boto3
import botocore.session
import hypothesis
import pytest
from botocore.loaders import JSONFileLoader, Loader

from tests.cpu_time import CpuTime

_NIGHTLY = os.environ.get("NIGHTLY") == "1"
_NIGHTLY_SECONDS = 3_600

hypothesis.settings.register_profile("pr", max_examples=100, deadline=None)
hypothesis.settings.register_profile("nightly", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("nightly" if _NIGHTLY else "pr")


class _FilesReadOnce(JSONFileLoader):
    """Reads each file once for all sessions of botocore: a third of the work of many tests."""

    load_file = staticmethod(cache(JSONFileLoader().load_file))


# Sessions ask for this function. moto has its own, and changes what it reads.
botocore.session.create_loader = lambda *_: Loader(file_loader=_FilesReadOnce())


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuTime())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each test of a nightly run take an hour, and leave its own tests out of other runs."""
    if _NIGHTLY:
        for item in items:
            item.add_marker(pytest.mark.timeout(_NIGHTLY_SECONDS), append=False)
        return
    left = [item for item in items if item.get_closest_marker("nightly")]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def trials() -> Callable[[int, int], int]:
    """Choose between the number of trials for `make pr` and the one for `make nightly`."""
    return lambda pr, nightly: nightly if _NIGHTLY else pr


@pytest.fixture
def seeded(request: pytest.FixtureRequest) -> random.Random:
    """Return reproducible randomness: set SEED to replay the seed that a failure printed."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    request.node.add_report_section("setup", "seed", f"replay with SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def cloud(localcloud):
    """Return the localcloud of the session, where the accounts of most tests may have many VPCs."""
    from localcloud.quotas import VPCS, QuotaValues  # noqa: PLC0415 - takes half a second

    for account in ("111111111111", "222222222222"):
        localcloud.state(QuotaValues).set(account, VPCS, 1_000)
    # Its modules stay; looking through them for garbage again and again is work for nothing.
    gc.collect()
    gc.freeze()
    return localcloud


@pytest.fixture(scope="session")
def client(cloud):
    """Return a function that gives a client: `client("glue", account="222222222222")`."""

    @cache  # a client takes some 30 ms of CPU time
    def make(service, account="111111111111", region="eu-central-1", **settings):
        keys = {"aws_access_key_id": account, "aws_secret_access_key": "any"}
        where = {"endpoint_url": cloud.endpoint, "region_name": region}
        return boto3.client(service, **(where | keys | settings))

    return make
