"""What Glue refuses is named at once, and not tried again."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import (
    IncompatibleSchemaError,
    RegistryAccessDeniedError,
    RegistryError,
    SchemaConflictError,
    SchemaNotFoundError,
)
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import Compatibility, canonical_form
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading


@pytest.mark.parametrize("code", ["AccessDeniedException", "ExpiredTokenException"])
def test_a_denied_call_names_the_action_and_is_retriable(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, time: FakeTime, code: str
) -> None:
    glue_api.fail("RegisterSchemaVersion", code)

    with pytest.raises(
        RegistryAccessDeniedError,
        match=f"glue:RegisterSchemaVersion with {code}: fault [0-9]+ was set for this call",
    ) as caught:
        registry.register("readings", reading())

    assert caught.value.retriable
    assert time.pauses == []


def test_an_unknown_error_is_a_registry_error(registry: GlueRegistry, glue_api: GlueApi) -> None:
    glue_api.fail("ListSchemaVersions", "InvalidInputException")
    glue_api.change(
        "ListSchemaVersions", lambda answer: answer | {"Error": answer["Error"] | {"Message": ""}}
    )

    with pytest.raises(RegistryError, match="InvalidInputException: no reason given") as caught:
        registry.versions("readings")

    assert type(caught.value) is RegistryError


def test_a_missing_registry_is_named(glue_client: Any, reading: Reading) -> None:
    registry = GlueRegistry(GlueSettings("nowhere"), glue_client)

    with pytest.raises(SchemaNotFoundError, match=r"glue:CreateSchema .*: Registry is not found$"):
        registry.register("readings", reading())


def test_invalid_input_does_not_mean_that_the_schema_is_disabled(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading())
    glue_api.fail("RegisterSchemaVersion", "InvalidInputException")

    with pytest.raises(
        RegistryError, match=r"glue:RegisterSchemaVersion .*: fault \d+ was"
    ) as caught:
        registry.register("readings", reading(temperature="long"))

    assert type(caught.value) is RegistryError


def test_a_refusal_is_permanent_even_if_the_rule_cannot_be_read(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.BACKWARD)
    glue_api.fail("GetSchema", "AccessDeniedException", times=2)
    required = reading(temperature="long")
    assert isinstance(required, dict)
    required["fields"].append({"name": "site", "type": "string"})

    with pytest.raises(
        IncompatibleSchemaError, match=r"rule \(not readable\) has refused version 2 .*: for"
    ) as caught:
        registry.register("readings", required)

    assert caught.value.rule == ""
    assert caught.value.diff == "+ site: string"


def test_a_contradiction_is_refused_even_when_it_cannot_be_marked(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, caplog: pytest.LogCaptureFixture
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.NONE)
    glue_api.store.add(arn_of("readings"), canonical_form(reading(temperature="string")))
    glue_api.fail("PutSchemaVersionMetadata", "AccessDeniedException")

    with pytest.raises(SchemaConflictError):
        registry.register("readings", reading(temperature="string"))

    assert "is refused but not marked so: glue://plant answered" in caplog.text
