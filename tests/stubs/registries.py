"""Registries in memory, for readers and for those who register, with a list of their calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import RegistryUnavailableError
from penstock.framing import SchemaKey
from penstock.registry import Registration, Registries, SchemaRegistry, SchemaStore, SchemaVersion
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Schema, decode

Reading = Callable[..., Schema]
UNKNOWN = SchemaKey.parse("00000000-0000-4000-8000-000000000000")


def make_reading(**types: str) -> Schema:
    """Make a record schema of optional fields, as an event's schema is."""
    fields: list[dict[str, Any]] = [{"name": "deviceId", "type": "string"}]
    fields += [
        {"name": name, "type": ["null", type_], "default": None}
        for name, type_ in sorted(types.items())
    ]
    return {"type": "record", "name": "Reading", "fields": fields}


def read_value(
    registries: Registries, value: bytes, headers: Mapping[str, bytes] | None = None
) -> tuple[str, int, Any]:
    """Read a value as functions and jobs do: name and number of its version, and the event."""
    frame = registries.decode(value, (headers or {}).items())
    assert frame is not None
    version = registries.find(frame.key)
    return version.name, version.number, decode(frame.payload, version.schema)


@dataclass
class World:
    """A store, the name its schemas have there, and a way to build one more client of it."""

    store: SchemaStore
    arn: Callable[[str], str]
    build: Callable[..., SchemaRegistry]


class CountedRegistry(MemoryRegistry):
    """A memory registry that counts, and can be slow, down, or fail for some ids."""

    def __init__(self) -> None:
        self.store = SchemaStore()
        super().__init__(self.store)
        self.calls: list[str] = []
        self.asked: list[SchemaKey] = []
        self.fails: dict[SchemaKey, Exception] = {}
        self.delay = 0.0
        self.down: Callable[[], Exception] | None = None

    def _count(self, call: str) -> None:
        self.calls.append(call)
        if self.delay:
            time.sleep(self.delay)
        if self.down is not None:
            raise self.down()

    def register(self, name: str, schema: Schema) -> Registration:
        self._count("register")
        return super().register(name, schema)

    def get(self, key: SchemaKey) -> SchemaVersion:
        self.asked.append(key)
        self._count("get")
        if key in self.fails:
            raise self.fails[key]
        return super().get(key)

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        self._count("versions")
        return super().versions(name)


def unavailable() -> RegistryUnavailableError:
    """Make the error of a registry that is down."""
    return RegistryUnavailableError("the registry is down")
