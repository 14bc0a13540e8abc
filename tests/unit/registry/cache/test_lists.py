"""Lists of versions are asked for again, and used as last known while nobody answers."""

from __future__ import annotations

import pytest

from penstock.errors import (
    RegistryUnavailableError,
    SchemaConflictError,
    SchemaForbiddenError,
)
from penstock.registry import CachedRegistry, SchemaVersion
from tests.stubs.clock import FakeTime
from tests.stubs.registries import CountedRegistry, Reading, unavailable


def test_a_list_is_read_again_after_its_lifetime(
    cached: CachedRegistry,
    inner: CountedRegistry,
    known: SchemaVersion,
    reading: Reading,
    time: FakeTime,
) -> None:
    assert cached.latest("readings") == known
    second = inner.register("readings", reading(temperature="long")).version
    assert cached.latest("readings") == known

    time.sleep(31)
    assert cached.latest("readings") == second
    assert cached.get(second.key) == second
    assert inner.calls.count("versions") == 2
    assert inner.calls.count("get") == 0


def test_a_list_is_read_again_after_an_own_registration(
    cached: CachedRegistry, known: SchemaVersion, reading: Reading
) -> None:
    assert cached.versions("readings") == (known,)

    second = cached.register("readings", reading(temperature="long")).version

    assert cached.versions("readings") == (known, second)


def test_the_last_known_list_is_used_while_the_registry_is_down(
    cached: CachedRegistry,
    inner: CountedRegistry,
    known: SchemaVersion,
    time: FakeTime,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cached.versions("readings")
    inner.calls.clear()
    inner.down = unavailable
    time.sleep(31)

    assert [cached.versions("readings") for _ in range(3)] == [(known,)] * 3
    assert inner.calls == ["versions"]
    assert "the versions of readings are used as last known: the registry is down" in caplog.text


def test_an_unknown_list_needs_the_registry(cached: CachedRegistry, inner: CountedRegistry) -> None:
    assert cached.latest("orders") is None
    inner.down = unavailable

    with pytest.raises(RegistryUnavailableError, match="the registry is down"):
        cached.versions("readings")


def test_a_list_can_be_read_again_at_once(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, reading: Reading
) -> None:
    cached.versions("readings")
    second = inner.register("readings", reading(temperature="long")).version

    cached.refresh("readings")

    assert cached.versions("readings") == (known, second)
    inner.down = unavailable
    with pytest.raises(RegistryUnavailableError):
        cached.refresh("readings")


def test_a_registration_is_forgotten_when_the_list_lacks_its_version(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, reading: Reading
) -> None:
    second = cached.register("readings", reading(temperature="long")).version
    assert cached.versions("readings") == (known, second)
    inner._schemas.delete(str(second.key))
    assert cached.register("readings", reading(temperature="long")).version == second

    cached.refresh("readings")
    third = cached.register("readings", reading(temperature="long"))

    assert (third.created, third.version.number) == (True, 3)
    assert cached.versions("readings") == (known, third.version)
    assert cached.get(second.key) == second


def test_a_contradiction_is_forgotten_when_the_list_changes(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, reading: Reading
) -> None:
    cached.versions("readings")
    inner.down = lambda: SchemaConflictError("refused")
    for _ in range(2):
        with pytest.raises(SchemaConflictError):
            cached.register("readings", reading(temperature="long"))
    inner.down = None
    assert inner.calls.count("register") == 1

    cached.refresh("readings")  # the same versions
    with pytest.raises(SchemaConflictError):
        cached.register("readings", reading(temperature="long"))

    inner.register("readings", reading(unit="string"))
    cached.refresh("readings")
    assert cached.register("readings", reading(temperature="long")).version.number == 3


def test_a_list_that_is_forbidden_by_now_is_not_used(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, time: FakeTime
) -> None:
    cached.versions("readings")
    inner.down = lambda: SchemaForbiddenError("not any more")
    time.sleep(31)

    with pytest.raises(SchemaForbiddenError, match="not any more"):
        cached.versions("readings")
