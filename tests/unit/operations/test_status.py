"""Versions that take longer to read than a count may are read on in the next one."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest

from penstock.errors import RegistryUnavailableError
from penstock.operations import StatusReader, StatusSettings, VersionsLeft, status
from penstock.operations.status import Budget
from penstock.registry import SchemaVersion

_BUDGET = Budget("memory://", "sensor", 100, 20)


class SlowRegistry:
    """A registry that lists no versions until it may, and perhaps fails then."""

    def __init__(self) -> None:
        self.is_done = Event()
        self.calls = 0
        self.failure: Exception | None = None

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        self.calls += 1
        assert self.is_done.wait(60)
        if self.failure:
            raise self.failure
        return ()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowRegistry]:
    registry = SlowRegistry()
    monkeypatch.setattr(status, "load_registry", lambda url, **_: registry)
    yield registry
    registry.is_done.set()


def test_versions_that_are_not_read_in_time_are_a_problem_and_are_read_on(
    registry: SlowRegistry,
) -> None:
    reader = StatusReader(StatusSettings(producers={"f": _BUDGET, "fixed": None}))

    for _ in range(2):
        (late,) = reader.read_versions(0.01).versions_left
        assert (late.left, late.problem) == (
            None,
            "the versions of schema sensor are not all read in time; the next count goes on",
        )
    registry.is_done.set()

    assert reader.read_versions(60).versions_left == (VersionsLeft("f", "sensor", 100, 20, 100),)
    assert registry.calls == 1
    assert reader.read_versions(60).problems == ()
    assert registry.calls == 2


def test_a_reading_that_fails_begins_anew_in_the_next_count(registry: SlowRegistry) -> None:
    reader = StatusReader(StatusSettings(producers={"f": _BUDGET}))
    registry.is_done.set()
    registry.failure = RegistryUnavailableError("no answer")

    assert reader.read_versions(60).problems == ("no answer",)
    registry.failure = None

    assert reader.read_versions(60).problems == ()


def test_what_is_open_is_counted_without_a_registry(registry: SlowRegistry) -> None:
    assert StatusReader(StatusSettings(producers={"f": _BUDGET})).read_open().problems == ()
    assert registry.calls == 0
