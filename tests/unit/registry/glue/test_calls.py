"""The calls that Penstock makes of Glue, as few as they may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    RegistryError,
    SchemaConflictError,
    SchemaNotFoundError,
)
from penstock.framing import SchemaKey
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import Compatibility, Schema, canonical_form
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.clock import FakeTime
from tests.stubs.registries import UNKNOWN, Reading


def test_registering_makes_few_calls(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    def calls(schema: Schema) -> list[str]:
        glue_api.calls.clear()
        registry.register("readings", schema)
        return glue_api.calls

    # fmt: off
    assert calls(reading()) == [
        "GetSchemaByDefinition", "ListSchemaVersions", "RegisterSchemaVersion", "CreateSchema",
        "GetSchemaVersion",
    ]
    assert calls(reading(a="long")) == [
        "GetSchemaByDefinition", "ListSchemaVersions", "GetSchemaVersion", "GetSchema",
        "RegisterSchemaVersion", "GetSchemaVersion",
    ]
    assert calls(reading()) == ["GetSchemaByDefinition", "GetSchemaVersion"]
    # fmt: on


def test_a_lower_version_is_read_once(
    registry: GlueRegistry, build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading
) -> None:
    ids = [
        registry.register("readings", reading(**{f"f{i}": "long"})).version.key for i in range(5)
    ]
    reader = build()
    glue_api.calls.clear()

    reader.get(ids[4])
    assert glue_api.calls == ["GetSchemaVersion"] * 5
    reader.get(ids[2])
    assert glue_api.calls == ["GetSchemaVersion"] * 6
    assert len(reader.versions("readings")) == 5
    assert glue_api.calls == [*["GetSchemaVersion"] * 6, "ListSchemaVersions"]


def test_a_deleted_version_is_looked_for_a_few_times(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    for i in range(5):
        registry.register("readings", reading(**{f"f{i}": "long"}))
    for number in (1, 2, 3):
        glue_api.store.delete(glue_api.store.read_number(arn_of("readings"), number).id)
    registry.versions("readings")
    glue_api.calls.clear()

    for _ in range(10):
        registry.register("readings", reading(f4="long"))

    assert glue_api.calls.count("GetSchemaVersion") == 10 + 3 * 3


def test_the_canonical_form_is_sent(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version

    assert glue_api.store.read(str(version.key)).definition == canonical_form(reading())


def test_a_request_that_glue_refuses_is_not_retried(
    glue_client: Any, glue_api: GlueApi, attempts: Callable[..., Attempts], time: FakeTime
) -> None:
    registry = GlueRegistry(GlueSettings("", allow=("a/*",)), glue_client, attempts=attempts())

    with pytest.raises(RegistryError, match=r"glue:ListSchemaVersions with ") as caught:
        registry.versions("readings")

    assert not caught.value.retriable
    assert (glue_api.calls, time.pauses) == (["ListSchemaVersions"], [])


def test_a_list_of_several_pages_is_read_whole(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(5):
        registry.register("readings", reading(**{f"f{i}": "long"}))
    monkeypatch.setattr("penstock.registry.glue._PAGE_SIZE", 2)
    glue_api.calls.clear()

    assert [each.number for each in registry.versions("readings")] == [1, 2, 3, 4, 5]
    assert glue_api.calls.count("ListSchemaVersions") == 3


@pytest.mark.parametrize("refused", [{"temperature": "string"}, {"temperature": "double"}])
def test_a_refused_schema_is_not_registered(
    build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading, refused: dict[str, str]
) -> None:
    registry = build(compatibility=None)
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.FULL)
    glue_api.calls.clear()

    for i in range(10):
        with pytest.raises(IncompatibleSchemaError, match="rule FULL refuses a new version"):
            registry.register("readings", reading(**refused, **{f"k{i}": "long"}))

    assert glue_api.calls.count("RegisterSchemaVersion") == 0
    assert len(glue_api.store.list_versions(arn_of("readings"))) == 1


@pytest.mark.parametrize(
    "forbidden",
    [
        (Compatibility.NONE, {"a": "string"}, SchemaConflictError),
        (Compatibility.DISABLED, {"c": "long"}, IncompatibleSchemaError),
        (Compatibility.BACKWARD, {"a": "int"}, IncompatibleSchemaError),
        (Compatibility.BACKWARD_ALL, {"a": "int"}, IncompatibleSchemaError),
        (Compatibility.FORWARD, {"a": "double"}, IncompatibleSchemaError),
        (Compatibility.FORWARD_ALL, {"a": "double"}, IncompatibleSchemaError),
        (Compatibility.FULL, {"a": "double"}, IncompatibleSchemaError),
        (Compatibility.FULL_ALL, {"a": "double"}, IncompatibleSchemaError),
    ],
    ids=lambda forbidden: forbidden[0].value,
)
def test_a_forbidden_version_takes_no_number(
    build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading,
    forbidden: tuple[Compatibility, dict[str, str], type[Exception]],
) -> None:  # fmt: skip
    registry, (mode, new, error) = build(compatibility=None), forbidden
    for types in ({"a": "long"}, {"a": "long", "b": "long"}):
        registry.register("readings", reading(**types))
    glue_api.store.update(arn_of("readings"), mode=mode)
    glue_api.calls.clear()

    for each in (registry, build(compatibility=None)):
        with pytest.raises(error):
            each.register("readings", reading(**new))

    assert glue_api.calls.count("RegisterSchemaVersion") == 0
    assert len(glue_api.store.list_versions(arn_of("readings"))) == 2


def test_a_mode_that_may_not_be_changed_stays_and_rules(
    build: Callable[..., GlueRegistry],
    glue_api: GlueApi,
    reading: Reading,
    caplog: pytest.LogCaptureFixture,
) -> None:
    build(compatibility=None).register("readings", reading(a="long"))
    glue_api.fail("UpdateSchema", "AccessDeniedException")

    with pytest.raises(IncompatibleSchemaError, match="rule BACKWARD refuses a new version"):
        build(compatibility=Compatibility.NONE).register("readings", reading(a="int"))

    assert "schema readings keeps the mode BACKWARD, expected NONE: glue://plant" in caplog.text
    assert glue_api.store.rule(arn_of("readings")) == (Compatibility.BACKWARD, 1)


@pytest.mark.parametrize("key", ["confluent:42", f"confluent:{UNKNOWN}", "apicurio:42"])
def test_a_key_of_another_kind_makes_no_call(
    registry: GlueRegistry, glue_api: GlueApi, key: str
) -> None:
    with pytest.raises(SchemaNotFoundError, match="not the id of a Glue schema version, expected"):
        registry.get(SchemaKey.parse(key))

    assert glue_api.calls == []
