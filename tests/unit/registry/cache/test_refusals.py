"""What the registry refuses is remembered for a while, what may pass is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    RegistryAccessDeniedError,
    SchemaConflictError,
    SchemaForbiddenError,
    SchemaNotFoundError,
)
from penstock.registry import CachedRegistry, GlueRegistry, GlueSettings, SchemaVersion
from penstock.schemas import Compatibility, canonical_form
from tests.fixtures.glue_api import GlueApi
from tests.stubs.clock import FakeTime
from tests.stubs.registries import UNKNOWN, CountedRegistry, Reading, unavailable


def test_an_unknown_id_costs_one_call_per_lifetime(
    cached: CachedRegistry, inner: CountedRegistry, time: FakeTime
) -> None:
    def ask() -> None:
        with pytest.raises(SchemaNotFoundError, match=f"{UNKNOWN} is not found"):
            cached.get(UNKNOWN)

    for _ in range(3):
        ask()
    time.sleep(59)
    ask()
    assert inner.calls == ["get"]

    time.sleep(2)
    ask()
    assert inner.calls == ["get"] * 2


def test_the_traceback_of_a_cached_error_does_not_grow(cached: CachedRegistry) -> None:
    for _ in range(100):
        with pytest.raises(SchemaNotFoundError) as caught:
            cached.get(UNKNOWN)

    assert len(caught.traceback) < 15


def test_a_contradiction_costs_one_call_per_lifetime(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    inner.store.create("memory/readings", canonical_form(reading(t="long")), Compatibility.NONE)
    for _ in range(3):
        with pytest.raises(SchemaConflictError, match="would contradict its versions"):
            cached.register("readings", reading(t="string"))

    assert inner.calls == ["register"]
    assert cached.register("readings", reading(unit="string")).version.number == 2


def test_after_a_contradiction_the_versions_are_listed_once_more(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    inner.store.create("memory/readings", canonical_form(reading(t="long")), Compatibility.NONE)
    for _ in range(3):
        assert len(cached.versions("readings")) == 1
        with pytest.raises(SchemaConflictError, match="would contradict its versions"):
            cached.register("readings", reading(t="string"))

    assert inner.calls == ["versions", "register", "versions"]


def test_an_incompatible_schema_is_registered_as_soon_as_its_rule_allows_it(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    inner.store.create("memory/readings", canonical_form(reading(t="long")), Compatibility.FULL)
    for _ in range(2):
        with pytest.raises(IncompatibleSchemaError, match="rule FULL refuses a new") as caught:
            cached.register("readings", reading(t="double"))

    assert caught.value.rule == "FULL"
    assert "~ t" in caught.value.diff
    inner.store.update("memory/readings", mode=Compatibility.BACKWARD)
    assert cached.register("readings", reading(t="double")).version.number == 2


def test_a_forbidden_schema_never_becomes_usable(
    glue_api: GlueApi, glue_client: Any, attempts: Callable[..., Attempts], reading: Reading
) -> None:
    foreign_id = glue_api.create("salaries", canonical_form(reading()), registry="payroll")
    cached = CachedRegistry(GlueRegistry(GlueSettings("plant"), glue_client, pending=attempts()))

    for _ in range(3):
        with pytest.raises(SchemaForbiddenError, match="belongs to payroll/salaries"):
            cached.get(foreign_id)

    assert len(cached._versions) == 0
    assert len(glue_api.calls) == 1


@pytest.mark.parametrize("error", [unavailable(), RegistryAccessDeniedError("denied")])
def test_a_retriable_error_is_not_cached(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, error: Exception
) -> None:
    inner.down = lambda: error
    for _ in range(2):
        with pytest.raises(type(error)):
            cached.get(known.key)
    assert inner.calls == ["get"] * 2

    inner.down = None
    assert cached.get(known.key) == known
