"""The example of a registry of one's own, found by its scheme as an installed one."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from examples import own_registry
from penstock.errors import IncompatibleSchemaError, SchemaNotFoundError, SettingsError
from penstock.framing import FrameKind, SchemaKey, decode_frame, encode_frame
from penstock.registry import SchemaRegistry, load, load_registry
from penstock.schemas import Schema, decode, encode, load_schema


def _schema(*fields: str) -> Schema:
    given = [{"name": name, "type": ["null", "long"], "default": None} for name in fields]
    return load_schema(json.dumps({"type": "record", "name": "sensor", "fields": given}))


_FIRST, _SECOND = _schema("a"), _schema("a", "b")
_NUMBER = {"name": "a", "type": "int"}
_OTHER = load_schema(json.dumps({"type": "record", "name": "sensor", "fields": [_NUMBER]}))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    point = EntryPoint("folder", f"{own_registry.__name__}:load", "penstock.registries")
    monkeypatch.setattr(load, "entry_points", lambda group: EntryPoints([point]))
    return f"folder://{tmp_path}/schemas"


@pytest.fixture
def registry(url: str) -> SchemaRegistry:
    return load_registry(url, call_seconds=5)


def test_a_definition_is_a_version_once(registry: SchemaRegistry) -> None:
    first, again = registry.register("sensor", _FIRST), registry.register("sensor", _FIRST)
    second = registry.register("sensor", _SECOND)

    assert (first.created, first.version.number, first.previous) == (True, 1, None)
    assert (again.created, again.version) == (False, first.version)
    assert (second.version.number, second.previous) == (2, first.version)
    assert registry.versions("sensor") == (first.version, second.version)
    assert registry.latest("sensor") == second.version
    assert registry.latest("pump") is None


def test_a_record_is_read_under_the_version_that_its_frame_names(registry: SchemaRegistry) -> None:
    version = registry.register("plant/sensor", _SECOND).version
    framed = encode_frame(version.key, encode({"a": 1, "b": 2}, version.schema))

    frame = decode_frame(framed)
    assert frame is not None
    found = registry.get(frame.key)

    assert (found, found.name) == (version, "plant/sensor")
    assert decode(frame.payload, found.schema) == {"a": 1, "b": 2}


def test_the_rule_refuses_what_readers_could_not_use(registry: SchemaRegistry) -> None:
    registry.register("sensor", _FIRST)

    with pytest.raises(IncompatibleSchemaError, match="sensor: the rule BACKWARD refuses"):
        registry.register("sensor", _OTHER)
    assert len(registry.versions("sensor")) == 1


def test_producers_that_register_at_once_get_one_version(registry: SchemaRegistry) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: registry.register("sensor", _FIRST), range(16)))

    assert {each.version.number for each in made} == {1}
    assert [each.created for each in made].count(True) == 1


def test_what_is_not_there_is_said(registry: SchemaRegistry, url: str) -> None:
    key = SchemaKey(FrameKind.GLUE, bytes(16))
    with pytest.raises(SchemaNotFoundError, match=f"{key} is not found in {url}"):
        registry.get(key)
    with pytest.raises(SettingsError, match="expected folder:///PATH"):
        load_registry("folder://schemas")
