"""The cached registry: how few calls it makes, how much it keeps, what it survives."""

from __future__ import annotations

import json
import logging
import threading
import time as real_time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
    SchemaForbiddenError,
    SchemaNotFoundError,
)
from penstock.registry import (
    CachedRegistry,
    CacheLimits,
    GlueRegistry,
    GlueSettings,
    MemoryRegistry,
    Registration,
    SchemaVersion,
)
from penstock.registry._bounded import BoundedMap
from penstock.schemas import Schema, canonical_form
from tests.fixtures.glue_api import GlueApi
from tests.stubs.registries import FakeTime

Reading = Callable[..., Schema]
_UNKNOWN = "00000000-0000-4000-8000-000000000000"


class CountedRegistry(MemoryRegistry):
    """A memory registry that counts, that can be slow, and that can be down."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.delay = 0.0
        self.down: Callable[[], Exception] | None = None

    def _count(self, call: str) -> None:
        self.calls.append(call)
        if self.delay:
            real_time.sleep(self.delay)
        if self.down is not None:
            raise self.down()

    def register(self, name: str, schema: Schema) -> Registration:
        self._count("register")
        return super().register(name, schema)

    def get(self, version_id: str) -> SchemaVersion:
        self._count("get")
        return super().get(version_id)

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        self._count("versions")
        return super().versions(name)


@pytest.fixture
def inner() -> CountedRegistry:
    return CountedRegistry()


@pytest.fixture
def cached(inner: CountedRegistry, time: FakeTime) -> CachedRegistry:
    return CachedRegistry(inner, clock=time.clock)


@pytest.fixture
def known(inner: CountedRegistry, reading: Reading) -> SchemaVersion:
    version = inner.register("readings", reading()).version
    inner.calls.clear()
    return version


def _down() -> RegistryUnavailableError:
    return RegistryUnavailableError("the registry is down")


# --- the warm path ----------------------------------------------------------------------------


def test_the_warm_path_makes_no_call_on_the_network(
    glue_api: GlueApi, glue_client: Any, attempts: Callable[..., Attempts], reading: Reading
) -> None:
    cached = CachedRegistry(GlueRegistry(GlueSettings("plant"), glue_client, pending=attempts()))
    version = cached.register("readings", reading()).version
    cached.versions("readings")
    glue_api.calls.clear()

    for _ in range(100):
        assert cached.get(version.id) == version
        assert cached.register("readings", reading()).version == version
        assert cached.latest("readings") == version

    assert glue_api.calls == []


def test_a_known_schema_is_not_created_again(cached: CachedRegistry, reading: Reading) -> None:
    created = [cached.register("readings", reading()).created for _ in range(3)]

    assert created == [True, False, False]


def test_one_schema_written_in_two_ways_is_registered_once(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    plain = reading()
    assert isinstance(plain, dict)

    first = cached.register("readings", plain)
    second = cached.register("readings", dict(reversed(plain.items())))

    assert second.version == first.version
    assert inner.calls == ["register"]


def test_a_schema_of_unusual_classes_is_registered_all_the_same(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    class Odd(dict[str, Any]):
        """A dictionary that marshal does not take."""

    plain = reading()
    assert isinstance(plain, dict)
    versions = {cached.register("readings", Odd(plain)).version.id for _ in range(2)}

    assert len(versions) == 1
    assert inner.calls == ["register"]


def _nested(depth: int) -> Any:
    schema: Any = "long"
    for _ in range(depth):
        schema = [schema]
    return schema


@pytest.mark.parametrize("no_schema", [_nested(50_000), {"type": object()}, object()])
def test_what_is_no_schema_is_refused_as_one(
    cached: CachedRegistry, inner: CountedRegistry, no_schema: Any
) -> None:
    with pytest.raises(InvalidSchemaError, match="the schema is no JSON value: "):
        cached.register("readings", no_schema)

    assert inner.calls == []


def test_names_do_not_share_a_registration(cached: CachedRegistry, reading: Reading) -> None:
    one = cached.register("readings", reading())
    other = cached.register("orders", reading())

    assert one.version.name == "readings"
    assert other.version.name == "orders"


def test_what_was_registered_can_be_read_without_a_call(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    version = cached.register("readings", reading()).version

    assert cached.get(version.id) == version
    assert inner.calls == ["register"]


# --- one call for many ------------------------------------------------------------------------


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

    assert _all_at_once(lambda: cached.get(known.id)) == [known] * 16
    assert inner.calls == ["get"]


def test_sixteen_threads_that_ask_for_one_unknown_id_make_one_call(
    cached: CachedRegistry, inner: CountedRegistry
) -> None:
    inner.delay = 0.05

    outcomes = _all_at_once(lambda: cached.get(_UNKNOWN))

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


def test_a_thread_that_looked_just_before_the_answer_came_makes_no_second_call(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    assert cached.get(known.id) == known
    assert cached.versions("readings") == (known,)
    assert cached._fetch(known.id) == known
    assert cached._list("readings").versions == (known,)

    assert inner.calls == ["get", "versions"]


def test_a_call_that_fails_fails_for_all_and_holds_up_nobody(
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
        return _down()

    monkeypatch.setattr("penstock.registry._flights.Future", WatchedFuture)
    inner.down = down_once_all_wait

    outcomes = _all_at_once(lambda: cached.get(known.id))
    assert {str(each) for each in outcomes} == {"the registry is down"}
    assert inner.calls == ["get"]

    inner.down = None
    assert cached.get(known.id) == known


def test_even_an_interruption_holds_up_nobody(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    class Interruption(BaseException):
        """Such as KeyboardInterrupt."""

    def interrupted(_: str) -> SchemaVersion:
        raise Interruption

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner, "get", interrupted)
        with pytest.raises(Interruption):
            cached.get(known.id)

    assert cached.get(known.id) == known


# --- what is refused --------------------------------------------------------------------------


def test_an_unknown_id_costs_one_call_for_a_while(
    cached: CachedRegistry, inner: CountedRegistry, time: FakeTime
) -> None:
    def ask() -> None:
        with pytest.raises(SchemaNotFoundError, match=f"{_UNKNOWN} is not found"):
            cached.get(_UNKNOWN)

    for _ in range(3):
        ask()
    assert inner.calls == ["get"]

    time.sleep(61)
    ask()
    assert inner.calls == ["get"] * 2


def test_a_remembered_error_does_not_collect_frames(cached: CachedRegistry) -> None:
    for _ in range(100):
        with pytest.raises(SchemaNotFoundError) as caught:
            cached.get(_UNKNOWN)

    assert len(caught.traceback) < 15


def test_ten_thousand_unknown_ids_push_out_nothing_good(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion
) -> None:
    cached.get(known.id)
    inner.down = lambda: SchemaNotFoundError("no such version")
    for step in (1, 20):  # all of them, then some of the old and the new again
        for number in range(0, 10_000, step):
            with suppress(SchemaNotFoundError):
                cached.get(str(UUID(int=number)))

    assert inner.calls == ["get"] * 10_001
    assert len(cached._refusals) == 10_000
    assert cached.get(known.id) == known
    assert inner.calls == ["get"] * 10_001


def test_refusals_have_a_bound(inner: CountedRegistry, known: SchemaVersion) -> None:
    cached = CachedRegistry(inner, limits=CacheLimits(refusals=10))
    for number in range(100):
        with pytest.raises(SchemaNotFoundError):
            cached.get(str(UUID(int=number)))

    assert len(cached._refusals) == 10


def test_good_versions_have_a_bound(inner: CountedRegistry, reading: Reading) -> None:
    cached = CachedRegistry(inner, limits=CacheLimits(versions=3))
    ids = [cached.register(f"s{i}", reading()).version.id for i in range(5)]
    cached.get(ids[2])
    cached.register("another", reading())
    inner.calls.clear()

    cached.get(ids[2])
    assert inner.calls == []
    cached.get(ids[3])
    assert inner.calls == ["get"]
    assert len(cached._versions) == len(cached._by_form) == len(cached._by_value) == 3


def test_an_incompatible_schema_costs_one_call_for_a_while(
    cached: CachedRegistry, inner: CountedRegistry, reading: Reading
) -> None:
    cached.register("readings", reading(temperature="long"))
    for _ in range(3):
        with pytest.raises(IncompatibleSchemaError, match="by its rule BACKWARD") as caught:
            cached.register("readings", reading(temperature="string"))

    assert caught.value.rule == "BACKWARD"
    assert "~ temperature" in caught.value.diff
    assert inner.calls == ["register"] * 2
    assert cached.register("readings", reading(unit="string")).version.number == 3


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


@pytest.mark.parametrize("error", [_down(), RegistryAccessDeniedError("denied")])
def test_what_may_pass_is_not_remembered(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, error: Exception
) -> None:
    inner.down = lambda: error
    for _ in range(2):
        with pytest.raises(type(error)):
            cached.get(known.id)
    assert inner.calls == ["get"] * 2

    inner.down = None
    assert cached.get(known.id) == known


# --- what may change --------------------------------------------------------------------------


def test_a_list_is_asked_for_again_after_a_while(
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
    assert cached.get(second.id) == second
    assert inner.calls.count("versions") == 2
    assert inner.calls.count("get") == 0


def test_an_own_registration_is_listed_at_once(
    cached: CachedRegistry, known: SchemaVersion, reading: Reading
) -> None:
    assert cached.versions("readings") == (known,)

    second = cached.register("readings", reading(temperature="long")).version

    assert cached.versions("readings") == (known, second)


def test_a_list_is_used_as_last_known_while_the_registry_is_down(
    cached: CachedRegistry,
    inner: CountedRegistry,
    known: SchemaVersion,
    time: FakeTime,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cached.versions("readings")
    inner.calls.clear()
    inner.down = _down
    time.sleep(31)

    assert [cached.versions("readings") for _ in range(3)] == [(known,)] * 3
    assert inner.calls == ["versions"]
    assert "the versions of readings are used as last known: the registry is down" in caplog.text


def test_a_list_never_seen_waits_for_the_registry(
    cached: CachedRegistry, inner: CountedRegistry
) -> None:
    assert cached.latest("orders") is None
    inner.down = _down

    with pytest.raises(RegistryUnavailableError, match="the registry is down"):
        cached.versions("readings")


def test_a_list_that_is_refused_is_not_used_any_more(
    cached: CachedRegistry, inner: CountedRegistry, known: SchemaVersion, time: FakeTime
) -> None:
    cached.versions("readings")
    inner.down = lambda: SchemaForbiddenError("not any more")
    time.sleep(31)

    with pytest.raises(SchemaForbiddenError, match="not any more"):
        cached.versions("readings")


# --- the bundle -------------------------------------------------------------------------------


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return tmp_path / "schemas.json"


def test_a_bundle_lets_a_start_do_without_the_registry(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    inner.down = _down

    restarted = CachedRegistry(inner, bundle=bundle)

    assert restarted.get(known.id) == known
    assert restarted.versions("readings") == (known,)


def test_a_bundle_does_not_hide_what_is_new(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path, reading: Reading
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    second = inner.register("readings", reading(temperature="long")).version

    assert CachedRegistry(inner, bundle=bundle).versions("readings") == (known, second)


def test_a_bundle_is_replaced_in_one_step(
    inner: CountedRegistry,
    known: SchemaVersion,
    bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    CachedRegistry(inner, bundle=bundle).get(known.id)
    before = bundle.read_text()
    monkeypatch.setattr("penstock.registry._bundle.json.dump", _fail_halfway)

    assert CachedRegistry(inner, bundle=bundle).register("orders", known.schema).created

    assert f"bundle {bundle} is not written: disk full" in caplog.text
    assert bundle.read_text() == before
    assert list(bundle.parent.iterdir()) == [bundle]


def _fail_halfway(content: object, file: Any) -> None:
    file.write('{"format"')
    raise OSError("disk full")


def test_a_file_holds_no_version_twice_and_no_refused_one(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path, reading: Reading
) -> None:
    cached = CachedRegistry(inner, bundle=bundle)
    cached.get(known.id)
    cached.versions("readings")
    with pytest.raises(SchemaNotFoundError):
        cached.get(_UNKNOWN)

    content = json.loads(bundle.read_text())

    assert [each["id"] for each in content["versions"]] == [known.id]
    assert content["lists"] == {"readings": [known.id]}
    assert content["source"] == "memory://"
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]


def _damaged(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def damage(text: str) -> str:
        content = json.loads(text)
        change(content)
        return json.dumps(content)

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "is not used: "),
        (lambda _: "[" * 200_000, "is not as written by us: RecursionError"),
        (lambda _: "", "is not used: Expecting value"),
        (lambda _: "[]", "is not used: it is not as written by us: TypeError"),
        (_damaged(lambda content: content.update(format=2)), "its format is 2, expected 1"),
        (
            _damaged(lambda content: content.update(source="glue://plant")),
            "it was written for glue://plant, expected memory://",
        ),
        (_damaged(lambda content: content["versions"][0].pop("arn")), "KeyError"),
        (_damaged(lambda content: content["versions"][0].update(definition="{")), "InvalidSch"),
        (_damaged(lambda content: content["versions"][0].update(status="GOOD")), "'GOOD' is not"),
        (_damaged(lambda content: content["lists"].update(readings=["x"])), "KeyError"),
    ],
)
def test_a_damaged_bundle_is_a_warning_and_is_written_anew(  # noqa: PLR0913, PLR0917  # a row
    inner: CountedRegistry,
    known: SchemaVersion,
    bundle: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[str], str],
    message: str,
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    bundle.write_text(damage(bundle.read_text()))

    cached = CachedRegistry(inner, bundle=bundle)

    assert f"bundle {bundle} is not used: " in caplog.text
    assert message in caplog.text
    assert len(cached._versions) == 0
    assert cached.get(known.id) == known
    assert json.loads(bundle.read_text())["versions"][0]["id"] == known.id


def test_a_bundle_that_cannot_be_written_is_a_warning(
    inner: CountedRegistry, known: SchemaVersion, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    nowhere = tmp_path / "missing" / "schemas.json"

    assert CachedRegistry(inner, bundle=nowhere).get(known.id) == known
    assert f"bundle {nowhere} is not written: " in caplog.text


# --- the parts --------------------------------------------------------------------------------


def test_a_bounded_map_lets_go_of_what_was_unused_longest() -> None:
    map_ = BoundedMap[str, int](2)
    map_.put("a", 1)
    map_.put("b", 2)
    map_.get("a")
    map_.put("c", 3)

    assert map_.items() == [("a", 1), ("c", 3)]
    assert map_.get("b") is None
