"""The fixtures of large suites: accounts with room for many VPCs, and clients that are opened once.

A `conftest.py` has them by importing them. Clients then read the files of botocore once for all,
which is a third of the work of many tests.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
import pytest
from botocore.loaders import JSONFileLoader, Loader

if TYPE_CHECKING:  # half a second
    from localcloud.cloud import Cloud


class _FilesReadOnce(JSONFileLoader):
    load_file = staticmethod(cache(JSONFileLoader().load_file))


# Sessions ask for this function. moto has its own, and changes what it reads.
botocore.session.create_loader = lambda *_: Loader(file_loader=_FilesReadOnce())


@pytest.fixture(scope="session")
def cloud(localcloud: Cloud) -> Cloud:
    """Return the localcloud of the session, where the accounts of most tests may have many VPCs."""
    from localcloud.quotas import VPCS, QuotaValues  # noqa: PLC0415 - see above

    for account in ("111111111111", "222222222222"):
        localcloud.state(QuotaValues).set(account, VPCS, 1_000)
    # Its modules stay; looking through them for garbage again and again is work for nothing.
    gc.collect()
    gc.freeze()
    return localcloud


@pytest.fixture(scope="session")
def client(cloud: Cloud) -> Callable[..., Any]:
    """Return a function that gives a client: `client("glue", account="222222222222")`."""
    return open_clients(cloud.endpoint)


def open_clients(endpoint: str) -> Callable[..., Any]:
    """Return a function that gives a client of an endpoint, and opens each of them once."""

    @cache  # a client takes some 30 ms of CPU time
    def make(
        service: str,
        account: str = "111111111111",
        region: str = "eu-central-1",
        **settings: Any,
    ) -> Any:
        keys = {"aws_access_key_id": account, "aws_secret_access_key": "any"}
        where = {"endpoint_url": endpoint, "region_name": region}
        return boto3.client(service, **(where | keys | settings))  # type: ignore[call-overload]

    return make
