"""Test the behaviour of every registry in memory and with Glue; `tests/registries` has servers."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RecursiveSchemaError,
    RegistryError,
    RegistryUnavailableError,
    SchemaConflictError,
    SchemaError,
    SchemaLimitError,
    SchemaNotFoundError,
    SchemaQuotaError,
    SchemaRefusedError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import CachedRegistry, ComparedWith, SchemaRegistry, VersionStatus
from penstock.schemas import Compatibility, Schema, canonical_form
from tests.stubs.registries import Reading, World

_UNKNOWN = {
    FrameKind.GLUE: "00000000-0000-4000-8000-000000000000",
    FrameKind.CONFLUENT: "confluent:2000000000",
    FrameKind.APICURIO: "apicurio:2000000000",
}


def test_the_same_definition_is_the_same_version(
    registry: SchemaRegistry, reading: Reading
) -> None:
    first = registry.register("readings", reading())
    second = registry.register("readings", reading(temperature="long"))
    again = registry.register("readings", reading())

    assert [each.version.number for each in (first, second, again)] == [1, 2, 1]
    assert [each.created for each in (first, second, again)] == [True, True, False]
    assert again.version == first.version
    assert first.previous is None
    assert second.previous == first.version
    assert again.previous is None


def test_a_version_has_all_its_attributes(registry: SchemaRegistry, reading: Reading) -> None:
    version = registry.register("readings", reading(temperature="long")).version

    assert version == registry.get(version.key)
    assert version.name == "readings"
    assert version.status is VersionStatus.AVAILABLE
    assert version.schema == reading(temperature="long")
    assert version.key.kind is registry.kind


def test_a_version_has_the_time_of_its_registration(
    registry: SchemaRegistry, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version

    assert version.registered_at is not None
    assert abs(datetime.now(UTC) - version.registered_at) < timedelta(minutes=1)


def test_definitions_with_one_canonical_form_are_one_version(
    registry: SchemaRegistry, reading: Reading
) -> None:
    plain = reading()
    assert isinstance(plain, dict)
    wordy = {
        **dict(reversed(plain.items())),
        "fields": [{"type": {"type": "string"}, "name": "deviceId"}],
    }

    assert (
        registry.register("readings", plain).version.key
        == registry.register("readings", wordy).version.key
    )


def test_an_unknown_id_is_not_found(registry: SchemaRegistry) -> None:
    unknown = _UNKNOWN[registry.kind]

    with pytest.raises(SchemaNotFoundError, match=f"schema version {unknown} is not found"):
        registry.get(SchemaKey.parse(unknown))


def test_versions_are_listed_oldest_first(registry: SchemaRegistry, reading: Reading) -> None:
    assert registry.versions("readings") == ()
    assert registry.latest("readings") is None

    first = registry.register("readings", reading()).version
    second = registry.register("readings", reading(temperature="long")).version

    assert registry.versions("readings") == (first, second)
    assert registry.latest("readings") == second


def test_an_incompatible_version_is_refused_and_the_next_good_one_is_not(
    registry: SchemaRegistry, reading: Reading
) -> None:
    first = registry.register("readings", reading(temperature="double")).version
    for _ in range(2):
        with pytest.raises(
            IncompatibleSchemaError,
            match="rule BACKWARD refuses a new version of schema readings: temperature: ",
        ) as caught:
            registry.register("readings", reading(temperature="string"))

    good = registry.register("readings", reading(temperature="double", humidity="long"))

    assert caught.value.rule == "BACKWARD"
    assert "temperature" in caught.value.diff
    assert good.version.number == 2
    assert good.previous == first
    assert registry.versions("readings") == (first, good.version)


@pytest.mark.parametrize(
    ("compared_with", "stored"),
    [(ComparedWith.BOTH, [1, 2, 3]), (ComparedWith.CHECKPOINT, [1, 2, 3, 4])],
)
def test_a_reading_of_the_rule_that_refuses_is_learned_from_one_refusal(
    world: World, reading: Reading, compared_with: ComparedWith, stored: list[int]
) -> None:
    world.store.compared_with = compared_with
    registry = world.build(Compatibility.FULL)
    registry.register("readings", reading())
    registry.register("readings", reading(temperature="long"))

    for name in ("a", "b"):  # the checkpoint has no temperature, the version before has a long
        with suppress(IncompatibleSchemaError):
            registry.register("readings", reading(temperature="double", **{name: "long"}))

    assert [each.number for each in world.store.list_versions(world.arn("readings"))] == stored


def test_a_refusal_by_one_reading_of_the_rule_says_nothing_of_the_other(
    world: World, reading: Reading
) -> None:
    world.store.compared_with = ComparedWith.CHECKPOINT
    registry = world.build(Compatibility.FULL)
    registry.register("readings", reading(temperature="long"))
    registry.register("readings", reading())
    with pytest.raises(IncompatibleSchemaError, match="has refused version 3 of schema readings"):
        registry.register("readings", reading(temperature="double"))
    registry.register("readings", reading(unit="long"))

    # The version before has a long, the checkpoint has no unit.
    assert registry.register("readings", reading(unit="double")).version.number == 5


@pytest.mark.parametrize("is_set_by_itself", [False, True], ids=["set in Glue", "set by itself"])
def test_a_version_that_an_earlier_mode_refused_is_named_until_it_is_deleted(
    world: World, reading: Reading, is_set_by_itself: bool
) -> None:
    arn, double = world.arn("readings"), reading(a="double")
    world.build(Compatibility.FULL).register("readings", reading(a="long"))
    failed = world.store.add(arn, canonical_form(double))
    with pytest.raises(IncompatibleSchemaError, match="rule FULL refuses a new version"):
        world.build().register("readings", double)

    registry = world.build(Compatibility.BACKWARD if is_set_by_itself else None)
    if not is_set_by_itself:
        world.store.update(arn, mode=Compatibility.BACKWARD)
    with pytest.raises(SchemaRefusedError, match="does not now: delete version 2, which has no re"):
        registry.register("readings", double)

    world.store.delete(failed.id)
    assert registry.register("readings", double).version.number == 3


def test_a_version_that_an_earlier_mode_refused_may_contradict_others(
    world: World, reading: Reading
) -> None:
    text = reading(a="string")
    world.build().register("readings", reading(a="long"))
    world.store.add(world.arn("readings"), canonical_form(text))

    with pytest.raises(SchemaConflictError, match="would contradict its versions: a"):
        world.build(Compatibility.NONE).register("readings", text)


def test_readers_do_not_get_a_failed_version(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="double"))
    definition = canonical_form(reading(temperature="string"))
    failed = world.store.add(world.arn("readings"), definition)

    with pytest.raises(SchemaRefusedError, match=r"version 2 of schema readings .* FAILURE"):
        registry.get(SchemaKey.parse(failed.id))


def test_the_mode_of_new_schemas_can_be_set(world: World, reading: Reading) -> None:
    registry = world.build(Compatibility.FORWARD)
    registry.register("readings", reading())

    assert world.store.rule(world.arn("readings")) == (Compatibility.FORWARD, 1)


def test_a_mode_that_is_set_is_that_of_the_next_version(world: World, reading: Reading) -> None:
    world.build(Compatibility.FULL).register("readings", reading(a="long"))
    world.build(Compatibility.FULL).register("readings", reading(a="long", b="long"))
    world.store.update(world.arn("readings"), checkpoint=2)
    looser, unset = world.build(Compatibility.NONE), world.build()

    looser.register("readings", reading(a="long"))
    assert world.store.rule(world.arn("readings")) == (Compatibility.FULL, 2)  # nothing is new
    with pytest.raises(IncompatibleSchemaError, match="rule FULL refuses a new version"):
        unset.register("readings", reading(a="double"))

    assert looser.register("readings", reading(a="double")).version.number == 3
    assert world.store.rule(world.arn("readings")) == (Compatibility.NONE, 2)


def test_a_disabled_schema_keeps_its_versions_and_accepts_no_new_one(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    first = registry.register("readings", reading()).version
    world.store.update(world.arn("readings"), mode=Compatibility.DISABLED)

    with pytest.raises(
        IncompatibleSchemaError, match=r"rule DISABLED refuses a new version of schema readings: "
    ) as caught:
        registry.register("readings", reading(temperature="long"))

    assert caught.value.rule == "DISABLED"
    assert "+ temperature" in caught.value.diff
    assert registry.register("readings", reading()).version == first


def test_the_quota_is_a_clear_error(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    world.store.version_quota = 1
    first = registry.register("readings", reading()).version

    with pytest.raises(SchemaQuotaError, match="holds 1 schema versions and takes no more"):
        registry.register("readings", reading(temperature="long"))
    with pytest.raises(SchemaQuotaError):
        registry.register("orders", reading())

    assert registry.register("readings", reading()).version == first


@pytest.mark.parametrize("name", ["", "two words", "a/b", "ü", "x" * 256])
def test_a_name_that_no_registry_accepts_is_refused(
    registry: SchemaRegistry, reading: Reading, name: str
) -> None:
    with pytest.raises(RegistryError, match=r"expected 1 to 255 letters, digits or - _ \$ # \."):
        registry.register(name, reading())


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        ({"type": "record", "name": "Reading"}, InvalidSchemaError),
        (
            {"type": "record", "name": "R", "fields": [{"name": "next", "type": ["null", "R"]}]},
            RecursiveSchemaError,
        ),
        (
            {
                "type": "record",
                "name": "Reading",
                "fields": [{"name": "unit", "type": "string", "doc": "x" * 170_000}],
            },
            SchemaLimitError,
        ),
        (
            {  # short as it is, too long as it is registered, with the names written out
                "type": "record",
                "name": "Reading",
                "namespace": "n" * 400,
                "fields": [
                    {"name": f"f{i}", "type": {"type": "fixed", "name": f"X{i}", "size": 1}}
                    for i in range(500)
                ],
            },
            SchemaLimitError,
        ),
    ],
)
def test_a_schema_that_no_reader_can_use_is_not_sent(
    registry: SchemaRegistry, broken: Schema, kind: type[SchemaError]
) -> None:
    with pytest.raises(kind):
        registry.register("readings", broken)
    with pytest.raises(kind):
        CachedRegistry(registry).register("readings", broken)

    assert registry.versions("readings") == ()


def test_a_schema_that_is_being_deleted_is_retriable(
    registry: SchemaRegistry, world: World, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "create", lambda *_: None)

    with pytest.raises(RegistryUnavailableError, match="readings can be neither created nor added"):
        registry.register("readings", reading())
