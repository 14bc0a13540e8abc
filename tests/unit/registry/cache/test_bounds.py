"""What is kept has a bound, and what is refused pushes out nothing good."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import pytest

from penstock.errors import SchemaNotFoundError
from penstock.registry import CachedRegistry, CacheLimits, SchemaVersion
from penstock.registry.cache import _LruMap
from tests.stubs.registries import CountedRegistry, Reading


def test_ten_thousand_unknown_ids_evict_no_version(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    cached.get(known.key)
    inner.down = lambda: SchemaNotFoundError("no such version")
    for step in (1, 20):  # all of them, then some of the old and the new again
        for number in range(0, 10_000, step):
            with suppress(SchemaNotFoundError):
                cached.get(str(UUID(int=number)))

    assert inner.calls == ["get"] * 10_001
    assert len(cached._refusals) == 10_000
    assert cached.get(known.key) == known
    assert inner.calls == ["get"] * 10_001


def test_cached_errors_are_bounded(inner: CountedRegistry, known: SchemaVersion) -> None:
    cached = CachedRegistry(inner, limits=CacheLimits(refusals=10))
    for number in range(100):
        with pytest.raises(SchemaNotFoundError):
            cached.get(str(UUID(int=number)))

    assert len(cached._refusals) == 10


def test_cached_versions_are_bounded(inner: CountedRegistry, reading: Reading) -> None:
    cached = CachedRegistry(inner, limits=CacheLimits(versions=3))
    ids = [cached.register(f"s{i}", reading()).version.key for i in range(5)]
    cached.get(ids[2])
    cached.register("another", reading())
    inner.calls.clear()

    cached.get(ids[2])
    assert inner.calls == []
    cached.get(ids[3])
    assert inner.calls == ["get"]
    assert len(cached._versions) == len(cached._by_form) == len(cached._by_value) == 3


def test_the_least_recently_used_entry_is_evicted() -> None:
    map_ = _LruMap[str, int](2)
    map_.put("a", 1)
    map_.put("b", 2)
    map_.get("a")
    map_.put("c", 3)

    assert [map_.get(key) for key in "abc"] == [1, None, 3]
    assert len(map_) == 2
