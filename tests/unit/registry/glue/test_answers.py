"""Answers that cannot be right are refused, and never taken for a schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, RegistryAnswerError
from penstock.registry import GlueRegistry
from penstock.schemas import Compatibility
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.registries import Reading


def _with(**members: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda answer: answer | members


_OTHER_ID = "00000000-0000-4000-8000-000000000000"
_OTHER_SCHEMA = '{"type":"record","name":"Other","fields":[]}'
_RECURSIVE = json.dumps(
    {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"], "default": None}],
    }
)


@pytest.mark.parametrize(
    ("members", "kind", "message"),
    [
        ({"SchemaVersionId": _OTHER_ID}, RegistryAnswerError, f"{_OTHER_ID}, expected "),
        ({"SchemaArn": "arn:aws:s3:::b"}, RegistryAnswerError, "'arn:aws:s3:::b', expected arn:"),
        ({"Status": "ODD"}, RegistryAnswerError, "not a schema version: .*ODD"),
        ({"VersionNumber": None}, RegistryAnswerError, "not a schema version: TypeError"),
        ({"VersionNumber": "x"}, RegistryAnswerError, "not a schema version: ValueError"),
        ({"SchemaVersionId": 7}, RegistryAnswerError, "not a schema version: "),
        ({"SchemaArn": None}, RegistryAnswerError, "not a schema version: TypeError"),
        ({"SchemaDefinition": None}, InvalidSchemaError, "schema version .* of readings: "),
        ({"DataFormat": "JSON"}, InvalidSchemaError, "of readings is JSON, expected AVRO"),
        ({"SchemaDefinition": "{"}, InvalidSchemaError, "schema version .* of readings: "),
        ({"SchemaDefinition": _RECURSIVE}, RecursiveSchemaError, "schema version .* of readings: "),
    ],
)
def test_a_wrong_answer_is_an_error(  # noqa: PLR0913, PLR0917  # a row of a table
    registry: GlueRegistry,
    build: Callable[..., GlueRegistry],
    glue_api: GlueApi,
    reading: Reading,
    members: dict[str, str],
    kind: type[Exception],
    message: str,
) -> None:
    version = registry.register("readings", reading()).version
    reader = build()
    glue_api.change("GetSchemaVersion", _with(**members))

    with pytest.raises(kind, match=message):
        reader.get(version.key)

    assert reader.get(version.key) == version


def test_an_answer_without_a_member_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version
    glue_api.change("GetSchemaVersion", lambda _: {})

    with pytest.raises(RegistryAnswerError, match="not a schema version: KeyError"):
        registry.get(version.key)


def test_a_registration_answered_without_an_id_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.change("CreateSchema", lambda _: {})

    with pytest.raises(
        RegistryAnswerError,
        match=r"plant answered with something that cannot be used: KeyError",
    ):
        registry.register("readings", reading())


def test_an_unknown_compatibility_mode_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.BACKWARD)
    glue_api.change("GetSchema", _with(Compatibility="LOOSE"))

    with pytest.raises(RegistryAnswerError, match=r"cannot be used: ValueError.*LOOSE"):
        registry.register("readings", reading(temperature="string"))


def test_a_registration_answered_with_another_schema_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.change("GetSchemaVersion", _with(SchemaDefinition=_OTHER_SCHEMA))

    with pytest.raises(RegistryAnswerError, match=r"version of readings .* has another def"):
        registry.register("readings", reading())


@pytest.mark.parametrize("members", [{"VersionNumber": 7}, {"SchemaArn": arn_of("orders")}])
def test_a_wrong_answer_about_a_lower_version_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, members: dict[str, object]
) -> None:
    registry.register("readings", reading())
    glue_api.change(
        "GetSchemaVersion",
        lambda answer: answer | members if answer["VersionNumber"] == 1 else answer,
        times=2,
    )

    with pytest.raises(RegistryAnswerError, match=r"expected 1 of plant/readings as asked"):
        registry.register("readings", reading(temperature="long"))


def test_a_lower_version_that_cannot_be_used_is_left_out(
    registry: GlueRegistry, build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading())
    second = registry.register("readings", reading(temperature="long")).version
    glue_api.change(
        "GetSchemaVersion",
        lambda answer: answer | {"DataFormat": "JSON"} if answer["VersionNumber"] == 1 else answer,
        times=10,
    )

    assert build().versions("readings") == (second,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T05:06:57.123Z", "2026-11-21T05:06:57.123000+00:00"),
        ("2026-11-21 05:06:57", "2026-11-21T05:06:57+00:00"),
        ("yesterday", None),
        ("", None),
    ],
)
def test_the_time_of_a_version_is_parsed_if_possible(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, text: str, expected: str | None
) -> None:
    glue_api.change("GetSchemaVersion", _with(CreatedTime=text))

    time = registry.register("readings", reading()).version.registered_at

    assert (time and time.isoformat()) == expected


def test_a_list_of_another_type_is_an_error(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading())
    glue_api.change("ListSchemaVersions", _with(Schemas=None))

    with pytest.raises(RegistryAnswerError, match="something that cannot be used: TypeError"):
        registry.versions("readings")


def test_a_creation_time_of_another_type_is_none(
    registry: GlueRegistry, build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version
    glue_api.change("GetSchemaVersion", _with(CreatedTime=None))

    assert build().get(version.key).registered_at is None
