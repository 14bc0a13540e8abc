"""Threads that ask for the same at once make one call, and wait for nobody who failed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from penstock.errors import RegistryUnavailableError, SchemaNotFoundError
from penstock.registry import CachedRegistry, SchemaVersion
from tests.stubs.registries import UNKNOWN, CountedRegistry, Reading, unavailable


def _all_at_once(call: Callable[[], object], threads: int = 16) -> list[object]:
    barrier = threading.Barrier(threads)

    def run(_: int) -> object:
        barrier.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def test_sixteen_threads_that_ask_for_one_id_make_one_call(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    inner.delay = 0.05

    assert _all_at_once(lambda: cached.get(known.key)) == [known] * 16
    assert inner.calls == ["get"]


def test_sixteen_threads_that_ask_for_one_unknown_id_make_one_call(
    cached: CachedRegistry, inner: CountedRegistry
) -> None:
    inner.delay = 0.05

    outcomes = _all_at_once(lambda: cached.get(UNKNOWN))

    assert {type(each) for each in outcomes} == {SchemaNotFoundError}
    assert inner.calls == ["get"]


def test_sixteen_threads_that_register_one_schema_make_one_call(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    inner.delay = 0.05

    outcomes = _all_at_once(lambda: cached.register("readings", reading()).created)

    assert sorted(outcomes, key=bool) == [False] * 15 + [True]
    assert inner.calls == ["register"]


def test_sixteen_threads_that_list_one_schema_make_one_call(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    inner.delay = 0.05

    assert _all_at_once(lambda: cached.versions("readings")) == [(known,)] * 16
    assert inner.calls == ["versions"]


def test_a_lookup_just_before_the_answer_makes_no_second_call(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    assert cached.get(known.key) == known
    assert cached.versions("readings") == (known,)
    assert cached._fetch(known.key) == known
    assert cached._list_versions("readings").versions == (known,)

    assert inner.calls == ["get", "versions"]


def test_a_failed_call_fails_for_all_that_wait_and_for_no_later_call(
    cached: CachedRegistry,
    inner: CountedRegistry,
    known: SchemaVersion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting = threading.Semaphore(0)

    class WatchedFuture(Future[Any]):
        """Tells that a thread waits: a late one would make a second call, as it may pass now."""

        def result(self, timeout: float | None = None) -> Any:
            waiting.release()
            return super().result(timeout)

    def down_once_all_wait() -> RegistryUnavailableError:
        for _ in range(15):
            assert waiting.acquire(timeout=30)
        return unavailable()

    monkeypatch.setattr("penstock.registry.cache.Future", WatchedFuture)
    inner.down = down_once_all_wait

    outcomes = _all_at_once(lambda: cached.get(known.key))
    assert {str(each) for each in outcomes} == {"the registry is down"}
    assert inner.calls == ["get"]

    inner.down = None
    assert cached.get(known.key) == known


def test_an_interrupted_call_does_not_block_the_next(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    class Interruption(BaseException):
        """Such as KeyboardInterrupt."""

    def interrupted(_: str) -> SchemaVersion:
        raise Interruption

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner, "get", interrupted)
        with pytest.raises(Interruption):
            cached.get(known.key)

    assert cached.get(known.key) == known
