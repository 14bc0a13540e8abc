"""A consumer with a registry full of versions, built from the zip that ships."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Faults
from localcloud.testing.mappings import broker
from systems.consumers import Client, Consumer, build_consumer
from tests.lambdas.consumer.model import Model, register
from tools.build_zip import build
from tools.lambda_packages import Target

__all__ = ["broker"]


@pytest.fixture(scope="session")
def consumer_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The function's zip for this machine."""
    folder = tmp_path_factory.mktemp("zips")
    build(Target.of_host(), folder)
    return folder / "consumer-lambda.zip"


@pytest.fixture(scope="module")
def shared(cloud: Cloud, client: Client, consumer_zip: Path) -> Iterator[Consumer]:
    """One for a whole module, whose tests use topics of their own."""
    yield from _run(cloud, client, consumer_zip)


@pytest.fixture
def consumer(cloud: Cloud, client: Client, consumer_zip: Path) -> Iterator[Consumer]:
    """One for a test that breaks it."""
    yield from _run(cloud, client, consumer_zip)


def _run(cloud: Cloud, client: Client, path: Path) -> Iterator[Consumer]:
    consumer = build_consumer(cloud, client, path, f"sensor-{secrets.token_hex(4)}")
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
