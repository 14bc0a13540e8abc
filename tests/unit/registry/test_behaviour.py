"""What every registry does, whichever it is: one suite over memory and Glue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    PenstockError,
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
from penstock.registry import CachedRegistry, Registration, SchemaRegistry, VersionStatus
from penstock.schemas import Compatibility, Schema, canonical_form
from tests.stubs.registries import FakeTime, Reading, World


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


def test_a_version_says_all_about_itself(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    version = registry.register("readings", reading(temperature="long")).version

    assert version == registry.get(version.id)
    assert version.arn == world.arn("readings")
    assert version.name == "readings"
    assert version.status is VersionStatus.AVAILABLE
    assert version.schema == reading(temperature="long")
    assert version.registered_at is not None
    assert abs(datetime.now(UTC) - version.registered_at) < timedelta(minutes=1)


def test_a_definition_is_known_however_it_is_written(
    registry: SchemaRegistry, reading: Reading
) -> None:
    plain = reading()
    assert isinstance(plain, dict)
    wordy = {
        **dict(reversed(plain.items())),
        "fields": [{"type": {"type": "string"}, "name": "deviceId"}],
    }

    assert (
        registry.register("readings", plain).version.id
        == registry.register("readings", wordy).version.id
    )


def test_an_unknown_id_is_not_found(registry: SchemaRegistry) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"

    with pytest.raises(SchemaNotFoundError, match=f"{unknown} is not found"):
        registry.get(unknown)


def test_versions_are_listed_oldest_first(registry: SchemaRegistry, reading: Reading) -> None:
    assert registry.versions("readings") == ()
    assert registry.latest("readings") is None

    first = registry.register("readings", reading()).version
    second = registry.register("readings", reading(temperature="long")).version

    assert registry.versions("readings") == (first, second)
    assert registry.latest("readings") == second


def test_an_incompatible_version_is_refused_and_the_next_good_one_is_not(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    first = registry.register("readings", reading(temperature="double")).version
    for _ in range(2):
        with pytest.raises(
            IncompatibleSchemaError,
            match=r"refused version 2 of schema readings by its rule BACKWARD: temperature: ",
        ) as caught:
            registry.register("readings", reading(temperature="string"))

    good = registry.register("readings", reading(temperature="double", humidity="long"))

    assert caught.value.rule == "BACKWARD"
    assert "temperature" in caught.value.diff
    assert world.store.read_number(world.arn("readings"), 2).status is VersionStatus.FAILURE
    assert good.version.number == 3
    assert good.previous == first
    assert registry.versions("readings") == (first, good.version)


def test_a_version_that_failed_is_not_given_to_readers(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="double"))
    definition = canonical_form(reading(temperature="string"))
    failed = world.store.add(world.arn("readings"), definition)

    with pytest.raises(SchemaRefusedError, match=r"version 2 of schema readings .* FAILURE"):
        registry.get(failed.id)


def test_the_mode_of_new_schemas_can_be_told(world: World, reading: Reading) -> None:
    registry = world.build(Compatibility.FORWARD)
    registry.register("readings", reading())

    assert world.store.rule(world.arn("readings")) == (Compatibility.FORWARD, 1)


def test_a_disabled_schema_takes_no_version_but_gives_those_it_has(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    first = registry.register("readings", reading()).version
    world.store.update(world.arn("readings"), mode=Compatibility.DISABLED)

    with pytest.raises(
        IncompatibleSchemaError, match=r"readings takes no new version: .* DISABLED"
    ) as caught:
        registry.register("readings", reading(temperature="long"))

    assert caught.value.rule == "DISABLED"
    assert "+ temperature" in caught.value.diff
    assert registry.register("readings", reading()).version == first


def test_a_pending_version_is_waited_for_in_short_growing_pauses(
    registry: SchemaRegistry, world: World, reading: Reading, time: FakeTime
) -> None:
    registry.register("readings", reading())
    world.store.pending_reads = 4

    version = registry.register("readings", reading(temperature="long")).version

    assert version.status is VersionStatus.AVAILABLE
    assert time.pauses == [0.05, 0.1, 0.2, 0.4]


def test_a_version_that_stays_pending_is_given_up_for_now(
    registry: SchemaRegistry, world: World, reading: Reading, time: FakeTime
) -> None:
    registry.register("readings", reading())
    world.store.pending_reads = 1_000

    with pytest.raises(RegistryUnavailableError, match="still PENDING after 10 s") as caught:
        registry.register("readings", reading(temperature="long"))

    assert caught.value.retriable
    assert 8 < time.now <= 10


def test_a_pending_version_that_fails_is_refused(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="double"))
    world.store.pending_reads = 2

    with pytest.raises(IncompatibleSchemaError):
        registry.register("readings", reading(temperature="string"))


def test_a_version_that_is_being_deleted_can_be_read_and_waits_to_be_registered(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    registry.register("readings", reading())
    second = registry.register("readings", reading(temperature="long")).version
    world.store.begin_delete(second.id)

    with pytest.raises(RegistryUnavailableError, match="version 2 of schema readings is being del"):
        registry.register("readings", reading(temperature="long"))
    assert world.build().get(second.id).status is VersionStatus.DELETING
    assert [each.number for each in world.build().versions("readings")] == [1]

    world.store.delete(second.id)
    assert registry.register("readings", reading(temperature="long")).version.number == 3
    assert [each.number for each in world.build().versions("readings")] == [1, 3]


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
def test_a_name_that_no_registry_takes_is_refused(
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
def test_a_schema_that_no_reader_could_use_is_not_sent(
    registry: SchemaRegistry, broken: Schema, kind: type[SchemaError]
) -> None:
    with pytest.raises(kind):
        registry.register("readings", broken)
    with pytest.raises(kind):
        CachedRegistry(registry).register("readings", broken)

    assert registry.versions("readings") == ()


def test_a_schema_that_comes_and_goes_is_tried_again_later(
    registry: SchemaRegistry, world: World, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "create", lambda *_: None)

    with pytest.raises(RegistryUnavailableError, match="readings can be neither created nor added"):
        registry.register("readings", reading())


# --- producers that contradict each other -----------------------------------------------------


def _contradict(world: World, reading: Reading) -> tuple[Registration, SchemaConflictError]:
    """Let one producer register temperature as a number, and another as text."""
    number, text = world.build(Compatibility.NONE), world.build(Compatibility.NONE)
    number.register("readings", reading())
    accepted = number.register("readings", reading(temperature="double"))
    with pytest.raises(SchemaConflictError) as caught:
        text.register("readings", reading(temperature="string"))
    return accepted, caught.value


def test_the_higher_of_two_contradicting_versions_is_refused(
    world: World, reading: Reading
) -> None:
    accepted, conflict = _contradict(world, reading)
    refused = world.store.read_number(world.arn("readings"), 3)

    assert str(conflict).startswith("version 3 of schema readings contradicts those below it")
    assert conflict.path == "temperature"
    assert list(world.store.metadata(refused.id)) == [("penstock.refused", "schema-conflict")]
    reader = world.build()
    assert reader.get(accepted.version.id) == accepted.version
    with pytest.raises(SchemaRefusedError, match="version 3 of schema readings contradicts"):
        reader.get(refused.id)
    assert [each.number for each in reader.versions("readings")] == [1, 2]


def test_a_refused_version_stays_refused_and_is_marked_once(world: World, reading: Reading) -> None:
    _contradict(world, reading)

    for _ in range(2):
        with pytest.raises(SchemaConflictError):
            world.build().register("readings", reading(temperature="string"))

    refused = world.store.read_number(world.arn("readings"), 3)
    assert len(world.store.metadata(refused.id)) == 1


def test_a_refused_version_refuses_nobody(world: World, reading: Reading) -> None:
    accepted, _ = _contradict(world, reading)

    next_one = world.build().register("readings", reading(temperature="double", unit="string"))

    assert next_one.version.number == 4
    assert next_one.previous == accepted.version
    assert [each.number for each in world.build().versions("readings")] == [1, 2, 4]


def test_a_lower_version_that_is_pending_is_waited_for(
    world: World, reading: Reading, time: FakeTime
) -> None:
    world.build(Compatibility.NONE).register("readings", reading())
    world.store.pending_reads = 2
    world.store.add(world.arn("readings"), canonical_form(reading(temperature="double")))
    world.store.pending_reads = 0

    with pytest.raises(SchemaConflictError):
        world.build().register("readings", reading(temperature="string"))
    assert time.pauses


def test_a_lower_version_that_failed_refuses_nobody(world: World, reading: Reading) -> None:
    registry = world.build()
    registry.register("readings", reading(temperature="double"))
    world.store.pending_reads = 2
    failed = reading(temperature="double", unit="string")
    assert isinstance(failed, dict)
    failed["fields"].append({"name": "site", "type": "string"})
    world.store.add(world.arn("readings"), canonical_form(failed))
    world.store.pending_reads = 0

    accepted = registry.register("readings", reading(temperature="double", unit="long"))

    assert accepted.version.number == 3


def _race(world: World, schemas: list[Schema]) -> list[Registration | PenstockError]:
    """Have each schema registered by a producer of its own, all at once."""
    barrier = Barrier(len(schemas))

    def register(schema: Schema) -> Registration | PenstockError:
        registry = world.build(Compatibility.NONE)
        barrier.wait()
        try:
            return registry.register("readings", schema)
        except PenstockError as error:
            return error

    with ThreadPoolExecutor(len(schemas)) as pool:
        return list(pool.map(register, schemas))


@pytest.mark.parametrize("run", range(20))
def test_of_two_that_contradict_each_other_at_once_one_wins(
    world: World, reading: Reading, run: int
) -> None:
    if run % 2:  # half of the runs race on the schema itself too
        world.build(Compatibility.NONE).register("readings", reading())
    world.store.pending_reads = run % 3

    outcomes = _race(world, [reading(temperature="double"), reading(temperature="string")])

    won = [each.version for each in outcomes if isinstance(each, Registration)]
    lost = [each for each in outcomes if isinstance(each, SchemaConflictError)]
    assert (len(won), len(lost)) == (1, 1)
    usable = world.build().versions("readings")
    assert usable[-1] == won[0]
    assert won[0].number == 1 + run % 2
    refused = world.store.read_number(world.arn("readings"), won[0].number + 1)
    assert list(world.store.metadata(refused.id)) == [("penstock.refused", "schema-conflict")]


@pytest.mark.parametrize("run", range(20))
def test_of_two_that_register_the_same_at_once_both_get_one_version(
    world: World, reading: Reading, run: int
) -> None:
    if run % 2:
        world.build(Compatibility.NONE).register("readings", reading())

    outcomes = _race(world, [reading(temperature="double")] * 2)

    ids = {each.version.id for each in outcomes if isinstance(each, Registration)}
    assert len(ids) == 1
    assert len(outcomes) == 2
    assert len(world.build().versions("readings")) == 1 + run % 2
