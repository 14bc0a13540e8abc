"""A real registry that stops answering, and ids that it does not know yet."""

from __future__ import annotations

import pytest

from penstock.errors import RegistryUnavailableError, SchemaNotFoundError
from penstock.registry import CachedRegistry, SchemaRegistry, load_registry
from tests.fixtures.apicurio import Apicurio
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading

pytestmark = pytest.mark.java


def test_a_registry_that_stops_has_no_effect_on_what_is_known_and_the_rest_waits(
    apicurio: Apicurio, url: str, reading: Reading
) -> None:
    writer = load_registry(url)
    known = writer.register("readings", reading()).version
    new = writer.register("readings", reading(temperature="long")).version
    registry = CachedRegistry(load_registry(url))
    assert registry.get(known.key) == known
    registry.register("readings", reading())

    with apicurio.stopped():
        assert registry.get(known.key) == known
        assert registry.register("readings", reading()).version == known
        with pytest.raises(RegistryUnavailableError, match="no answer from") as caught:
            load_registry(url, call_seconds=0.2).get(new.key)

    assert caught.value.retriable
    assert registry.get(new.key) == new


def test_an_id_that_appears_late_is_found_then(url: str, reading: Reading) -> None:
    time = FakeTime()
    registry = CachedRegistry(load_registry(url), clock=time.clock)
    writer = load_registry(url)
    key = writer.register("readings", reading()).version.key
    late = type(key)(key.kind, (int.from_bytes(key.id) + 1).to_bytes(len(key.id)))
    with pytest.raises(SchemaNotFoundError):
        registry.get(late)

    version = writer.register("readings", reading(temperature="long")).version

    assert version.key == late
    time.sleep(61)
    assert registry.get(late) == version


def test_a_registration_whose_answer_was_lost_stores_nothing_twice(
    registry: SchemaRegistry, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = registry.register("readings", reading()).version
    second = registry.register("readings", reading(temperature="long")).version
    monkeypatch.setattr(registry, "_find_version", lambda *_: None)

    assert registry.register("readings", reading()).version == first
    assert registry.register("readings", reading(temperature="long")).version == second
    assert registry.versions("readings") == (first, second)
