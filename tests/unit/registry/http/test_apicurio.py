"""Calls of Apicurio's own API whose answers are lost, and look-ups of ids in large groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.registry import ApicurioRegistry, HttpRegistrySettings
from penstock.schemas import Compatibility
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


def _meta(global_id: int, version: int = 1) -> dict[str, Any]:
    return {
        "globalId": global_id,
        "version": str(version),
        "state": "ENABLED",
        "createdOn": "2026-01-01T00:00:00+0000",
        "type": "AVRO",
    }


def _put(server: FakeServer, name: str, *global_ids: int, schema: Any) -> None:
    """Let the server have an artifact; a search by id finds its last version."""
    metas = [_meta(each, number) for number, each in enumerate(global_ids, 1)]
    path = f"GET {_ARTIFACTS}/{name}-value/versions?limit=500&offset=0"
    server.answers[path] = {"versions": metas, "count": len(metas)}
    for each in global_ids:
        found = [{"id": f"{name}-value"}] if each == global_ids[-1] else []
        _put_search(server, f"globalId={each}&", found)
        server.answers[f"GET {_API}/ids/globalIds/{each}?dereference=true"] = schema
    for meta in metas:
        server.answers[f"GET {_ARTIFACTS}/{name}-value/versions/{meta['version']}/meta"] = meta


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
        _CREATE: _meta(7, 2),
    }

    version = build(compatibility=Compatibility.FULL_ALL).register("readings", reading()).version

    assert version.number == 2
    assert _RULES not in server.calls
