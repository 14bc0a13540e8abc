"""Calls of Apicurio's own API whose answers are lost, and look-ups of ids in large groups."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.errors import (
    RegistryUnavailableError,
    SchemaForbiddenError,
    SchemaNotFoundError,
)
from penstock.framing import SchemaKey
from penstock.registry import ApicurioRegistry, HttpRegistrySettings
from penstock.registry._apicurio_index import GroupIndex
from penstock.schemas import Compatibility
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading
from tests.unit.registry.http.conftest import FakeServer

_API = "/apis/registry/v2"
_ARTIFACTS = f"{_API}/groups/default/artifacts"
_READINGS = f"{_ARTIFACTS}/readings-value"
_CREATE = f"POST {_ARTIFACTS}?ifExists=RETURN_OR_UPDATE"
_RULES = f"POST {_READINGS}/rules"
_MISSING = (404, '{"name": "ArtifactNotFoundException"}')
_EXISTS = (409, '{"name": "RuleAlreadyExistsException"}')


@pytest.fixture
def build(server: FakeServer, attempts: Callable[..., Any]) -> Callable[..., ApicurioRegistry]:
    def build_registry(**settings: Any) -> ApicurioRegistry:
        given = HttpRegistrySettings("apicurio+http", server.host, group="default", **settings)
        return ApicurioRegistry(given, attempts=attempts())

    return build_registry


def _meta(global_id: int, label: str = "1") -> dict[str, Any]:
    return {
        "globalId": global_id,
        "version": label,
        "state": "ENABLED",
        "createdOn": "2026-01-01T00:00:00+0000",
        "type": "AVRO",
    }


def _put(
    server: FakeServer, name: str, *global_ids: int, schema: Any, labels: tuple[str, ...] = ()
) -> None:
    """Let the server have an artifact; a search by id finds its last version."""
    labels = labels or tuple(str(number) for number in range(1, len(global_ids) + 1))
    metas = [_meta(*each) for each in zip(global_ids, labels, strict=True)]
    path = f"GET {_ARTIFACTS}/{name}-value/versions?limit=500&offset=0"
    server.answers[path] = {"versions": metas, "count": len(metas)}
    for each in global_ids:
        found = [{"id": f"{name}-value"}] if each == global_ids[-1] else []
        _put_search(server, f"globalId={each}&", found)
        server.answers[f"GET {_API}/ids/globalIds/{each}?dereference=true"] = schema


def _put_search(server: FakeServer, what: str, found: list[Any]) -> None:
    path = f"GET {_API}/search/artifacts?group=default&{what}limit=500&offset=0"
    server.answers[path] = {"artifacts": found, "count": len(found)}


@pytest.mark.parametrize(
    ("created", "rules"),
    [
        ([None, (200, json.dumps(_meta(7)))], [(204, "")]),
        ([(503, ""), (200, json.dumps(_meta(7)))], [(204, "")]),
        ([(200, json.dumps(_meta(7)))], [None, _EXISTS]),
        ([(200, json.dumps(_meta(7)))], [(503, ""), _EXISTS]),
    ],
)
def test_an_answer_to_a_registration_that_is_lost_changes_nothing(
    server: FakeServer,
    build: Callable[..., ApicurioRegistry],
    reading: Reading,
    created: list[Any],
    rules: list[Any],
) -> None:
    _put(server, "readings", 7, schema=reading())
    versions = f"GET {_READINGS}/versions?limit=500&offset=0"
    held = (200, json.dumps(server.answers[versions]))
    server.answers |= {
        f"POST {_READINGS}/meta": _MISSING,
        versions: [_MISSING, _MISSING, held],
        _CREATE: list(created),
        _RULES: list(rules),
    }

    registration = build(compatibility=Compatibility.FULL_ALL).register("readings", reading())

    assert (registration.version.number, registration.created) == (1, True)
    posts = [call for call in server.calls if call.startswith("POST") and "/meta" not in call]
    assert posts == [_CREATE] * len(created) + [_RULES] * len(rules)


def test_a_version_that_another_producer_stored_first_keeps_its_rule(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    _put(server, "readings", 6, 7, schema=reading())
    versions = f"GET {_READINGS}/versions?limit=500&offset=0"
    held = (200, json.dumps(server.answers[versions]))
    server.answers |= {
        f"POST {_READINGS}/meta": _MISSING,
        versions: [_MISSING, _MISSING, held],
        _CREATE: _meta(7, "2"),
    }

    version = build(compatibility=Compatibility.FULL_ALL).register("readings", reading()).version

    assert version.number == 2
    assert _RULES not in server.calls


def _key(global_id: int) -> SchemaKey:
    return SchemaKey.parse(f"apicurio:{global_id}")


def test_a_version_with_a_label_that_people_chose_is_numbered_by_its_place(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    labels = ("1", "1.0.0", "20261128", "7", "2.0-rc1")  # two before 7 were deleted
    _put(server, "readings", 3, 4, 6, 9, 10, schema=reading(), labels=labels)
    registry = build()

    assert registry.get(_key(10)).number == 8
    found = [(each.number, str(each.key)) for each in registry.versions("readings")]
    assert found == [
        (1, "apicurio:3"),
        (2, "apicurio:4"),
        (3, "apicurio:6"),
        (7, "apicurio:9"),
        (8, "apicurio:10"),
    ]
    with pytest.raises(SchemaForbiddenError, match="belongs to apicurio/readings"):
        build(allow=("orders",)).get(_key(10))


def test_a_version_keeps_its_number_when_one_with_a_label_of_people_is_deleted(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    registry = build()
    labels = {3: "1.0.0", 4: "1.1.0", 6: "2.0.0", 7: "2.1.0"}
    for ids in ((3, 4, 6), (4, 7)):
        _put(server, "readings", *ids, schema=reading(), labels=[labels[each] for each in ids])
        found = {str(each.key): each.number for each in registry.versions("readings")}

    assert found == {"apicurio:4": 2, "apicurio:7": 4}


def test_an_artifact_that_is_created_again_has_version_1(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    registry = build()
    for ids in ((3, 4), (6,)):
        _put(server, "readings", *ids, schema=reading())
        found = [each.number for each in registry.versions("readings")]

    assert found == [1]


@pytest.mark.parametrize(("label", "number"), [("20261128", 2), ("9999", 9999)])
def test_a_label_that_is_a_large_number_costs_no_calls(
    server: FakeServer,
    build: Callable[..., ApicurioRegistry],
    reading: Reading,
    label: str,
    number: int,
) -> None:
    _put(server, "readings", 3, 4, schema=reading(), labels=("1.0.0", label))

    assert build().get(_key(4)).number == number
    assert len(server.calls) == 4  # definition, search by id, versions, the other definition


def test_an_old_version_is_looked_for_in_allowed_artifacts_only(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    names = [f"a{number}" for number in range(300)]
    for number, name in enumerate(names):
        _put(server, name, 1000 + 2 * number, 1001 + 2 * number, schema=reading())
    _put_search(server, "", [{"id": f"{name}-value"} for name in names])
    registry = build(allow=("a299",))

    assert registry.get(_key(1598)).name == "a299"
    assert len(server.calls) == 4  # definition, search by id, group, versions

    with pytest.raises(SchemaNotFoundError, match="1000 is not found in the allowed artifacts"):
        registry.get(_key(1000))
    with pytest.raises(SchemaForbiddenError):
        registry.get(_key(1001))


def test_a_flood_of_ids_of_other_groups_reads_each_artifact_once(
    server: FakeServer, build: Callable[..., ApicurioRegistry], reading: Reading
) -> None:
    foreign = range(5000, 5100)
    for each in foreign:
        server.answers[f"GET {_API}/ids/globalIds/{each}?dereference=true"] = reading()
        _put_search(server, f"globalId={each}&", [])
    names = [f"a{number}" for number in range(50)]
    for number, name in enumerate(names):
        _put(server, name, 1000 + number, schema=reading())
    _put_search(server, "", [{"id": f"{name}-value"} for name in names])
    registry = build()

    for each in foreign:
        with pytest.raises(SchemaNotFoundError):
            registry.get(_key(each))

    assert len(server.calls) == 2 * len(foreign) + 1 + len(names)


def test_a_look_up_beyond_its_time_limit_is_continued_by_the_next(time: FakeTime) -> None:
    versions = {f"a{number}": [{"globalId": number}] for number in range(10)}
    read: list[str] = []

    def list_metas(name: str) -> list[Any]:
        time.sleep(1)
        read.append(name)
        return versions[name]

    index = GroupIndex(lambda: iter(versions), list_metas, time.clock)
    for left in (6, 2):
        with pytest.raises(RegistryUnavailableError, match=f"in time, at least {left} artifacts"):
            index.find(9, time.clock() + 4)

    assert index.find(9, time.clock() + 4) == ("a9", {"globalId": 9})
    assert read == list(versions)


def test_a_pass_counts_for_the_ids_that_it_must_have_seen(time: FakeTime) -> None:
    versions: dict[str, list[Any]] = {"a": [{"globalId": 1}, {"globalId": 3}], "b": []}
    passes: list[float] = []

    def list_names() -> Iterator[str]:
        passes.append(time.clock())
        return iter(versions)

    index = GroupIndex(list_names, versions.__getitem__, time.clock)

    def find(number: int) -> Any:
        return index.find(number, time.clock() + 20)

    assert find(1) == ("a", {"globalId": 1})
    versions["a"].append({"globalId": 4})  # after the pass has read it
    assert find(4) == ("a", {"globalId": 4})
    assert len(passes) == 2

    assert [find(5), find(2), find(5), find(6)] == [None] * 4
    assert len(passes) == 3
    time.sleep(29)
    assert find(7) is None
    assert len(passes) == 3
    time.sleep(2)
    assert [find(2), find(5)] == [None] * 2
    assert len(passes) == 3
    versions["b"].append({"globalId": 6})
    assert find(6) == ("b", {"globalId": 6})
    assert len(passes) == 4


def test_an_artifact_that_was_deleted_meanwhile_has_no_versions() -> None:
    def list_metas(name: str) -> list[Any]:
        raise SchemaNotFoundError(name)

    assert GroupIndex(lambda: iter("a"), list_metas).find(1, float("inf")) is None
