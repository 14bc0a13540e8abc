"""The schema versions of topics, as the registries have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from penstock.errors import RegistryError, SchemaError
from penstock.framing import SchemaKey
from penstock.registry import RegistryAdmin, SchemaBackup, VersionStatus, load_admin
from penstock.schemas import Schema, load_schema, merge_schemas
from penstock.tables import Struct, read_event


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """A version with the fields of its events; `keys` are those that frames and rows have."""

    schema: str
    number: int
    keys: tuple[str, ...]
    registered_at: datetime | None
    fields: Struct


@dataclass(frozen=True, slots=True)
class _Asked:
    """A registry with the names of its schemas, and its URL for messages."""

    url: str
    registry: RegistryAdmin
    names: frozenset[str]


class Versions:
    """The versions that registries accepted until a moment; each schema is read once.

    `not_seen` are the registries that could not be asked, each with the reason.
    """

    def __init__(self, urls: str, as_of: datetime | None = None) -> None:
        self._urls = urls.split()
        self.as_of = as_of
        self.not_seen: dict[str, str] = {}
        self._read: dict[str, tuple[KnownVersion, ...]] = {}

    def find_names(self, topic: str) -> tuple[str, ...]:
        """Return the schemas that a topic has by its name, as Glue's or Confluent's clients do."""
        wanted = (topic, f"{topic}-value")
        return tuple(name for name in wanted if any(name in each.names for each in self._asked))

    def read(self, name: str) -> tuple[KnownVersion, ...]:
        """Return the versions of a schema, oldest first; none if no registry has it."""
        if name not in self._read:
            self._read[name] = tuple(
                version
                for each in self._asked
                if name in each.names
                for version in self._list_versions(each, name)
                if self._is_there(version.registered_at)
            )
        return self._read[name]

    def _list_versions(self, asked: _Asked, name: str) -> list[KnownVersion]:
        try:
            return list(_list_accepted(asked.registry.read_schema(name)))
        except RegistryError as error:
            self.not_seen[asked.url] = str(error)
            return []

    def find(self, key: str) -> KnownVersion | None:
        """Return the version that a row names; None if no registry has it."""
        for each in (version for versions in self._read.values() for version in versions):
            if key in each.keys:
                return each
        try:
            parsed = SchemaKey.parse(key)
        except ValueError:
            return None
        for asked in self._asked:
            if asked.registry.kind is parsed.kind:
                try:
                    found = asked.registry.get(parsed)
                except (RegistryError, SchemaError) as error:
                    if error.retriable:
                        self.not_seen[asked.url] = str(error)
                    continue
                fields = _read_fields(found.schema)
                return KnownVersion(found.name, found.number, (key,), found.registered_at, fields)
        return None

    @cached_property
    def _asked(self) -> list[_Asked]:
        """The registries that answer, each with the names of its schemas."""
        asked = []
        for url in self._urls:
            shown = url.partition("?")[0]  # the rest may have an external id
            try:
                registry = load_admin(url)
                asked.append(_Asked(shown, registry, frozenset(registry.list_names())))
            except RegistryError as error:
                self.not_seen[shown] = str(error)
        return asked

    def _is_there(self, registered_at: datetime | None) -> bool:
        return self.as_of is None or registered_at is None or registered_at <= self.as_of


def _list_accepted(stored: SchemaBackup) -> Iterator[KnownVersion]:
    """Yield the versions that readers could use."""
    for each in stored.versions:
        if each.status is VersionStatus.AVAILABLE:
            try:
                fields = _read_fields(load_schema(each.definition))
            except SchemaError:
                continue
            yield KnownVersion(stored.name, each.number, each.keys, each.registered_at, fields)


def _read_fields(schema: Schema) -> Struct:
    return read_event(merge_schemas([schema]))
