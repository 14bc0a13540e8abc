"""One invocation of a scheduled function works at a time: in a real table, and when calls fail."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.errors import SinkAccessDeniedError
from penstock.sinks import DynamoDbClient, FunctionLease, function_lease
from systems.tables import make_table
from tests.stubs.dynamodb_api import DynamoDbApi, refusal

_NOW = 1_764_000_000


@pytest.fixture
def leases(cloud: Cloud, session: boto3.Session) -> Iterator[Any]:
    """A table of leases as infra/modules/reading-store makes it."""
    database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    table = make_table(database, f"leases-{secrets.token_hex(4)}", "id")
    yield table
    table.delete()


@pytest.fixture
def open_lease(
    leases: Any, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., FunctionLease]:
    """Open the lease of an invocation, at a time."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "111111111111")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    return lambda now=_NOW: FunctionLease(leases.name, clock=lambda: now)


def _context(name: str = "penstock-sync", left_ms: int = 300_000) -> Any:
    return SimpleNamespace(function_name=name, get_remaining_time_in_millis=lambda: left_ms)


def test_a_second_invocation_does_nothing_while_the_first_works(
    open_lease: Callable[..., FunctionLease], caplog: pytest.LogCaptureFixture
) -> None:
    with open_lease().held_during(_context()) as first:
        with open_lease().held_during(_context()) as second:
            assert (first, second) == (True, False)
        with open_lease().held_during(_context()) as third:  # the second has released nothing
            assert not third
        with open_lease().held_during(_context("penstock-quality")) as other:
            assert other
    with open_lease().held_during(_context()) as later:
        assert later
    expected = "another invocation of penstock-sync works, so this one does nothing"
    assert [record.getMessage() for record in caplog.records] == [expected] * 2


def test_a_lease_is_released_when_the_work_fails(open_lease: Callable[..., FunctionLease]) -> None:
    with pytest.raises(KeyError), open_lease().held_during(_context()):
        raise KeyError
    with open_lease().held_during(_context()) as is_held:
        assert is_held


def test_a_lease_of_an_invocation_that_was_killed_ends_after_its_time_out(
    open_lease: Callable[..., FunctionLease], leases: Any, caplog: pytest.LogCaptureFixture
) -> None:
    killed = open_lease().held_during(_context(left_ms=60_000))
    killed.__enter__()
    row = leases.get_item(Key={"id": "penstock-sync"})["Item"]
    assert (row["heldUntil"], row["expiresAt"]) == (_NOW + 70, _NOW + 30 * 86_400)

    with open_lease(_NOW + 70).held_during(_context()) as too_early:
        assert not too_early
    with open_lease(_NOW + 71).held_during(_context()) as is_held:
        assert is_held
        killed.__exit__(None, None, None)  # it lives after all, and releases nothing of another's
        assert "holder" in leases.get_item(Key={"id": "penstock-sync"})["Item"]
    assert "the lease of penstock-sync is not released: it is held no longer" in caplog.text


def test_without_a_table_every_invocation_works() -> None:
    with FunctionLease("").held_during(_context()) as is_held:
        assert is_held


def test_a_request_whose_answer_was_lost_may_come_again(
    open_lease: Callable[..., FunctionLease], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_lease, "uuid4", lambda: SimpleNamespace(hex="same"))
    with open_lease().held_during(_context()), open_lease().held_during(_context()) as is_held:
        assert is_held


def test_without_an_answer_of_the_table_no_work_begins(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    api.otherwise = lambda _: refusal("AccessDeniedException")
    lease = FunctionLease("leases", dynamodb)

    with pytest.raises(SinkAccessDeniedError), lease.held_during(_context()):
        pytest.fail("it must not begin")
    assert "ExpressionAttributeNames" not in api.requests[0]  # DynamoDB refuses empty ones
