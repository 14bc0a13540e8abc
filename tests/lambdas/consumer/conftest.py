"""A consumer with a registry full of versions, built from the zip that ships."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Faults
from systems.consumers import Client, Consumer, build_consumer
from tests.lambdas.consumer.model import Model, register


@pytest.fixture(scope="module")
def shared(cloud: Cloud, client: Client, zips: Path) -> Iterator[Consumer]:
    """One for a whole module, whose tests use topics of their own."""
    yield from _run(cloud, client, zips)


@pytest.fixture
def consumer(cloud: Cloud, client: Client, zips: Path) -> Iterator[Consumer]:
    """One for a test that breaks it."""
    yield from _run(cloud, client, zips)


def _run(cloud: Cloud, client: Client, zips: Path) -> Iterator[Consumer]:
    name = f"sensor-{secrets.token_hex(4)}"
    consumer = build_consumer(cloud, client, zips / "consumer-lambda.zip", name)
    consumer.version_ids = register(client("glue"), consumer.name)
    yield consumer
    consumer.remove()


@pytest.fixture
def faults(cloud: Cloud) -> Iterator[Faults]:
    """The faults of the cloud, which end with the test."""
    yield cloud.state(Faults)
    cloud.state(Faults).clear()


@pytest.fixture
def new_model(seeded: random.Random) -> Callable[[Consumer], Model]:
    """Begin a topic whose records a consumer can read."""
    return lambda consumer: Model(f"t-{secrets.token_hex(4)}", consumer.version_ids, seeded)
