"""A DynamoDB in the test's hands, and time that passes when told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.attempts import Attempts
from penstock.sinks import DynamoDbClient
from tests.stubs.dynamodb_api import DynamoDbApi, serve_dynamodb
from tests.stubs.registries import FakeTime


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def attempts(time: FakeTime) -> Attempts:
    return Attempts(0.05, 1, 10, sleep=time.sleep, clock=time.clock)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDbApi]:
    with serve_dynamodb() as api:
        monkeypatch.setenv("AWS_ENDPOINT_URL", api.endpoint)
        yield api


@pytest.fixture
def build(api: DynamoDbApi, attempts: Attempts) -> Iterator[Callable[..., DynamoDbClient]]:
    """Build a client, with other keys where they are given."""
    clients: list[DynamoDbClient] = []

    def build(**keys: str) -> DynamoDbClient:
        clients.append(DynamoDbClient(api.session(**keys), attempts=attempts))
        return clients[-1]

    yield build
    for client in clients:
        client.close()


@pytest.fixture
def dynamodb(build: Callable[..., DynamoDbClient]) -> DynamoDbClient:
    return build()
