"""Producers that contradict each other: one version wins, in memory and in Glue."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from penstock.errors import PenstockError, SchemaConflictError, SchemaRefusedError
from penstock.framing import SchemaKey
from penstock.registry import Registration, SchemaStore
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, Schema, VersionSet, canonical_form, merge_schemas
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading, World

_SUBJECT = "memory/readings"


def _contradict(world: World, reading: Reading) -> tuple[Registration, SchemaConflictError]:
    """Let two producers register temperature as a number and as text, neither seeing the other."""
    number, text = world.build(Compatibility.NONE), world.build(Compatibility.NONE)
    number.register("readings", reading())
    accepted = number.register("readings", reading(temperature="double"))
    world.store.add(world.arn("readings"), canonical_form(reading(temperature="string")))
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
    assert reader.get(accepted.version.key) == accepted.version
    with pytest.raises(SchemaRefusedError, match="version 3 of schema readings contradicts"):
        reader.get(SchemaKey.parse(refused.id))
    assert [each.number for each in reader.versions("readings")] == [1, 2]


def test_a_contradiction_that_is_known_is_not_stored(world: World, reading: Reading) -> None:
    registry = world.build(Compatibility.NONE)
    registry.register("readings", reading(temperature="double"))

    with pytest.raises(
        SchemaConflictError, match="a new version of schema readings would contradict its versions"
    ) as caught:
        world.build(Compatibility.NONE).register("readings", reading(temperature="string"))

    assert caught.value.path == "temperature"
    assert len(world.store.list_versions(world.arn("readings"))) == 1


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_the_versions_of_a_schema_are_merged_in_linear_time(
    reading: Reading, monkeypatch: pytest.MonkeyPatch, is_newest_first: bool
) -> None:
    store, count, merged = SchemaStore(), 40, []
    keys = []
    for i in range(count):
        definition = canonical_form(reading(**{f"f{i}": "long"}))
        stored = store.create(_SUBJECT, definition) or store.add(_SUBJECT, definition)
        keys.append(SchemaKey.parse(stored.id))

    def count_merged(schemas: Iterable[Schema]) -> Schema:
        merged.append(list(schemas))
        return merge_schemas(merged[-1])

    monkeypatch.setattr("penstock.schemas.merge.merge_schemas", count_merged)
    reader = MemoryRegistry(store)
    for key in reversed(keys) if is_newest_first else keys:
        reader.get(key)

    assert sum(len(each) for each in merged) <= 4 * count
    assert len(reader.versions("readings")) == count


def _union(*branches: str) -> Schema:
    named = [
        {
            "type": "record",
            "name": f"{namespace}.A",
            "fields": [{"name": "f", "type": ["null", "long"], "default": None}],
        }
        for namespace in branches
    ]
    field = {"name": "x", "type": ["null", *named], "default": None}
    return {"type": "record", "name": "readings", "fields": [field]}


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_a_version_that_contradicts_those_below_it_only_at_once_is_refused(
    is_newest_first: bool,
) -> None:
    store, keys = SchemaStore(), []
    # The first two are one type under two names; the third tells n1.A from others by its name.
    for schema in (_union("n1"), _union("n2"), _union("n1", "n3"), _union("n1", "n2")):
        stored = store.create(_SUBJECT, canonical_form(schema)) or store.add(
            _SUBJECT, canonical_form(schema)
        )
        keys.append(SchemaKey.parse(stored.id))
    reader = MemoryRegistry(store)
    if is_newest_first:
        assert reader.get(keys[3]).number == 4

    with pytest.raises(SchemaRefusedError, match="version 3 of schema readings contradicts"):
        reader.get(keys[2])

    usable = reader.versions("readings")
    assert [each.number for each in usable] == [1, 2, 4]
    VersionSet([each.schema for each in usable])
    with pytest.raises(SchemaConflictError, match="would contradict its versions"):
        reader.register("readings", _union("n1", "n4"))


@pytest.mark.parametrize("deleted", [1, 2, 3, 4])
def test_a_running_program_and_a_new_one_agree_after_a_deletion(
    world: World, reading: Reading, deleted: int
) -> None:
    _contradict(world, reading)
    running = world.build()
    running.register("readings", reading(temperature="double", unit="string"))
    running.versions("readings")

    world.store.delete(world.store.read_number(world.arn("readings"), deleted).id)

    assert running.versions("readings") == world.build().versions("readings")


def test_a_refused_version_stays_refused_and_is_marked_once(world: World, reading: Reading) -> None:
    _contradict(world, reading)

    for _ in range(2):
        with pytest.raises(SchemaConflictError):
            world.build().register("readings", reading(temperature="string"))

    refused = world.store.read_number(world.arn("readings"), 3)
    assert len(world.store.metadata(refused.id)) == 1


def test_later_versions_are_not_compared_with_a_refused_version(
    world: World, reading: Reading
) -> None:
    accepted, _ = _contradict(world, reading)

    next_one = world.build().register("readings", reading(temperature="double", unit="string"))

    assert next_one.version.number == 4
    assert next_one.previous == accepted.version
    assert [each.number for each in world.build().versions("readings")] == [1, 2, 4]


def test_a_registration_waits_for_a_lower_version_that_is_pending(
    world: World, reading: Reading, time: FakeTime
) -> None:
    world.build(Compatibility.NONE).register("readings", reading())
    world.store.pending_reads = 2
    world.store.add(world.arn("readings"), canonical_form(reading(temperature="double")))
    world.store.pending_reads = 0

    with pytest.raises(SchemaConflictError):
        world.build().register("readings", reading(temperature="string"))
    assert time.pauses


def test_versions_are_not_compared_with_a_failed_version(world: World, reading: Reading) -> None:
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
def test_one_of_two_concurrent_contradictions_is_usable(
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
    for stored in world.store.list_versions(world.arn("readings"))[won[0].number :]:
        mark = ("penstock.refused", "schema-conflict")
        assert list(world.store.metadata(stored.id)) == [mark]


@pytest.mark.parametrize("run", range(20))
def test_two_concurrent_registrations_of_one_schema_get_one_version(
    world: World, reading: Reading, run: int
) -> None:
    if run % 2:
        world.build(Compatibility.NONE).register("readings", reading())

    outcomes = _race(world, [reading(temperature="double")] * 2)

    ids = {each.version.key for each in outcomes if isinstance(each, Registration)}
    assert len(ids) == 1
    assert len(outcomes) == 2
    assert len(world.build().versions("readings")) == 1 + run % 2
