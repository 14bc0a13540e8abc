"""A version that is neither available nor refused yet is waited for, in memory and in Glue."""

from __future__ import annotations

import pytest

from penstock.errors import IncompatibleSchemaError, RegistryUnavailableError
from penstock.registry import SchemaRegistry, VersionStatus
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading, World


def test_a_pending_version_is_polled_with_backoff(
    registry: SchemaRegistry, world: World, reading: Reading, time: FakeTime
) -> None:
    registry.register("readings", reading())
    world.store.pending_reads = 4

    version = registry.register("readings", reading(temperature="long")).version

    assert version.status is VersionStatus.AVAILABLE
    assert time.pauses == [0.05, 0.1, 0.2, 0.4]


def test_a_version_that_stays_pending_is_retriable(
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


def test_a_version_that_is_being_deleted_can_be_read_and_not_registered(
    registry: SchemaRegistry, world: World, reading: Reading
) -> None:
    registry.register("readings", reading())
    second = registry.register("readings", reading(temperature="long")).version
    world.store.begin_delete(str(second.key))

    with pytest.raises(RegistryUnavailableError, match="version 2 of schema readings is being del"):
        registry.register("readings", reading(temperature="long"))
    assert world.build().get(second.key).status is VersionStatus.DELETING
    assert [each.number for each in world.build().versions("readings")] == [1]

    world.store.delete(str(second.key))
    assert registry.register("readings", reading(temperature="long")).version.number == 3
    assert [each.number for each in world.build().versions("readings")] == [1, 3]
