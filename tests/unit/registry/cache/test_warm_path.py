"""What is known costs no call, however it is written and whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.attempts import Attempts
from penstock.errors import InvalidSchemaError
from penstock.registry import CachedRegistry, GlueRegistry, GlueSettings
from tests.fixtures.glue_api import GlueApi
from tests.stubs.registries import CountedRegistry, Reading


def test_the_warm_path_makes_no_network_call(
    glue_api: GlueApi, glue_client: Any, attempts: Callable[..., Attempts], reading: Reading
) -> None:
    cached = CachedRegistry(GlueRegistry(GlueSettings("plant"), glue_client, pending=attempts()))
    version = cached.register("readings", reading()).version
    cached.versions("readings")
    glue_api.calls.clear()

    for _ in range(100):
        assert cached.get(version.key) == version
        assert cached.register("readings", reading()).version == version
        assert cached.latest("readings") == version

    assert glue_api.calls == []


def test_a_known_schema_is_not_created_again(cached: CachedRegistry, reading: Reading) -> None:
    created = [cached.register("readings", reading()).created for _ in range(3)]

    assert created == [True, False, False]


def test_a_schema_in_two_orders_of_keys_is_registered_once(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    plain = reading()
    assert isinstance(plain, dict)

    first = cached.register("readings", plain)
    second = cached.register("readings", dict(reversed(plain.items())))

    assert second.version == first.version
    assert inner.calls == ["register"]


def test_a_schema_that_marshal_rejects_is_registered(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    class Odd(dict[str, Any]):
        """A dictionary that marshal does not take."""

    plain = reading()
    assert isinstance(plain, dict)
    versions = {cached.register("readings", Odd(plain)).version.key for _ in range(2)}

    assert len(versions) == 1
    assert inner.calls == ["register"]


def _nested(depth: int) -> Any:
    schema: Any = "long"
    for _ in range(depth):
        schema = [schema]
    return schema


@pytest.mark.parametrize("no_schema", [_nested(50_000), {"type": object()}, object()])
def test_a_value_that_is_not_a_schema_is_refused(
    cached: CachedRegistry, inner: CountedRegistry, no_schema: Any
) -> None:
    with pytest.raises(InvalidSchemaError, match="the schema is not a JSON value: "):
        cached.register("readings", no_schema)

    assert inner.calls == []


def test_names_do_not_share_a_registration(cached: CachedRegistry, reading: Reading) -> None:
    one = cached.register("readings", reading())
    other = cached.register("orders", reading())

    assert one.version.name == "readings"
    assert other.version.name == "orders"


def test_a_registered_version_is_read_without_a_call(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    version = cached.register("readings", reading()).version

    assert cached.get(version.key) == version
    assert inner.calls == ["register"]
