"""What may pass is tried again, spread and bounded; a lost answer makes no second version."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from penstock.attempts import Attempts
from penstock.aws import AwsClient, Service
from penstock.errors import RegistryUnavailableError
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import canonical_form
from systems.sessions import make_session
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.clock import FakeTime
from tests.stubs.registries import UNKNOWN, Reading


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),
        ("ConcurrentModificationException", 400),
        ("InternalServiceException", 500),
        ("SomethingNobodyKnows", 503),
    ],
)
@pytest.mark.parametrize("operation", ["GetSchemaByDefinition", "RegisterSchemaVersion"])
def test_a_temporary_error_is_retried(  # noqa: PLR0913, PLR0917  # a row of a table
    registry: GlueRegistry,
    glue_api: GlueApi,
    reading: Reading,
    time: FakeTime,
    operation: str,
    code: str,
    status: int,
) -> None:
    glue_api.fail(operation, code, times=3, status=status)

    assert registry.register("readings", reading()).version.number == 1
    assert time.pauses == [0.1, 0.2, 0.4]


def test_retries_end_in_time(registry: GlueRegistry, glue_api: GlueApi, time: FakeTime) -> None:
    glue_api.throttle("GetSchemaVersion", times=10_000)

    with pytest.raises(
        RegistryUnavailableError,
        match=r"plant answered glue:GetSchemaVersion with ThrottlingException: Rate exceeded$",
    ) as caught:
        registry.get(UNKNOWN)

    assert caught.value.retriable
    assert 15 < time.now <= 20
    assert len(glue_api.calls) < 15


@pytest.mark.parametrize("operation", ["CreateSchema", "RegisterSchemaVersion"])
def test_a_lost_answer_makes_no_second_version(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, operation: str
) -> None:
    if operation == "RegisterSchemaVersion":
        registry.register("readings", reading())
    glue_api.calls.clear()
    glue_api.cut(operation)

    version = registry.register("readings", reading(temperature="long")).version

    assert glue_api.calls.count(operation) == 2
    assert glue_api.store.find(arn_of("readings"), canonical_form(version.schema)) is not None
    assert version == registry.versions("readings")[-1]
    assert version.number == (2 if operation == "RegisterSchemaVersion" else 1)


def test_a_lost_race_to_create_uses_the_schema_of_the_winner(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.create("readings", canonical_form(reading()))
    glue_api.fail("RegisterSchemaVersion", "EntityNotFoundException")

    version = registry.register("readings", reading(temperature="long")).version

    assert "CreateSchema" in glue_api.calls
    assert version.number == 2


def test_a_registry_that_cannot_be_reached_is_unavailable(
    attempts: Callable[..., Attempts], time: FakeTime
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
        client = AwsClient(Service.GLUE, make_session("AKIAMADEUP"), endpoint=nowhere)
        registry = GlueRegistry(
            GlueSettings("plant"), client, attempts=attempts(0.1, 3, 1), pending=attempts()
        )

        with pytest.raises(RegistryUnavailableError, match=r"no answer from glue://.*refused"):
            registry.versions("readings")
    assert time.pauses
