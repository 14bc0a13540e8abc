"""A DynamoDB in the test's hands, and time that passes when told."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.attempts import Attempts
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore
from systems.error_tables import make_error_table
from systems.sessions import make_session
from tests.stubs.clock import FakeTime
from tests.stubs.dynamodb_api import DynamoDbApi, serve_dynamodb


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

    def build(token: str | None = None) -> DynamoDbClient:
        clients.append(DynamoDbClient(make_session("AKIAMADEUP", token=token), attempts=attempts))
        return clients[-1]

    yield build
    for client in clients:
        client.close()


@pytest.fixture
def dynamodb(build: Callable[..., DynamoDbClient]) -> DynamoDbClient:
    return build()


# --- a real table of errors and a bucket, in localcloud -------------------------------------

_NAME = "penstock-parked"


@pytest.fixture(scope="module")
def session() -> boto3.Session:
    """The session of an account in localcloud: its first client takes long."""
    return boto3.Session("111111111111", "any", region_name="eu-central-1")


@pytest.fixture
def stored_table(cloud: Cloud, session: boto3.Session) -> Iterator[Any]:
    database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    table = make_error_table(database, f"e-{secrets.token_hex(4)}")
    yield table
    table.delete()


@pytest.fixture
def read_rows(stored_table: Any) -> Callable[[], list[dict[str, Any]]]:
    """All rows of the table of errors, bytes as bytes."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        return getattr(value, "value", value)

    return lambda: [plain(row) for row in stored_table.scan()["Items"]]


@pytest.fixture
def bucket_client(
    cloud: Cloud, session: boto3.Session, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    client = session.client("s3")
    client.create_bucket(
        Bucket=_NAME, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    yield client
    for found in client.list_objects_v2(Bucket=_NAME).get("Contents", []):
        client.delete_object(Bucket=_NAME, Key=found["Key"])
    client.delete_bucket(Bucket=_NAME)


@pytest.fixture
def read_object(bucket_client: Any) -> Callable[[str], bytes]:
    """The bytes at a URL in the bucket."""

    def read(url: str) -> bytes:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        return bucket_client.get_object(Bucket=bucket, Key=key)["Body"].read()

    return read


@pytest.fixture
def open_table(bucket_client: Any, stored_table: Any) -> Iterator[Callable[..., ErrorTable]]:
    """Build a table of errors, with another bucket where one is given."""
    ours = make_session("111111111111")
    dynamodb = DynamoDbClient(ours)
    yield lambda bucket=_NAME: ErrorTable(dynamodb, stored_table.name, ObjectStore(bucket, ours))
    dynamodb.close()


@pytest.fixture
def replaying(bucket_client: Any, stored_table: Any) -> Iterator[ErrorTable]:
    """The same table as a replay sees it that keeps settled rows 30 days, at the second 1,000."""
    ours = make_session("111111111111")
    dynamodb = DynamoDbClient(ours)
    store = ObjectStore(_NAME, ours)
    yield ErrorTable(dynamodb, stored_table.name, store, keep_days=30, clock=lambda: 1_000.5)
    dynamodb.close()
