"""A registry over the backups of other registries, whose ids are in the frames of old records.

A registry that is built again, or another one, gives new ids to the same definitions. A backup
knows the old ids, so an old record is read with its definition from there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from penstock.errors import (
    RegistryError,
    SchemaForbiddenError,
    SchemaNotFoundError,
    SchemaRefusedError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry._base import PENDING_ATTEMPTS, VersionReader
from penstock.registry._validation import AllowList
from penstock.registry.backup import RegistryBackup
from penstock.registry.interface import Registration, SchemaRegistry, SchemaVersion, StoredVersion
from penstock.registry.naming import OTHER_NAMING
from penstock.schemas import Schema, canonical_form, load_schema


class BackupRegistry(VersionReader):
    """The versions of a backup by their ids, under the rules of every registry."""

    def __init__(self, backup: RegistryBackup, source: str) -> None:
        super().__init__(backup.registry, AllowList(("*/*",)), PENDING_ATTEMPTS)
        self._kind = backup.kind
        self._source = source
        stored = [version for schema in backup.schemas for version in schema.versions]
        self._by_number = {(version.subject, version.number): version for version in stored}
        self._by_id: dict[str, list[StoredVersion]] = {}
        for version in sorted(stored, key=_rank):
            for key in version.keys:
                self._by_id.setdefault(key, []).append(replace(version, id=key))

    @property
    def source(self) -> str:
        """The place of the backup."""
        return self._source

    def __contains__(self, key: SchemaKey) -> bool:
        """Return whether the backup has the id, with whatever status."""
        return str(key) in self._by_id

    def check(self, version: SchemaVersion) -> None:
        """Raise SchemaRefusedError if the backup has another definition under a version's id.

        Subjects of Confluent's registry share the id of a definition: one that is not in the
        backup may have got the id later. Other ids have one name too. A version of Apicurio's that
        was disabled at the backup has no definition there, which contradicts none.
        """
        holders = self._by_id[str(version.key)]
        stored = next((each for each in holders if _name_of(each) == version.name), holders[0])
        name = _name_of(stored)
        is_named_alike = name == version.name or self._kind is FrameKind.CONFLUENT
        is_alike = not stored.definition or (
            canonical_form(load_schema(stored.definition)) == canonical_form(version.schema)
        )
        if not (is_named_alike and is_alike):
            raise SchemaRefusedError(
                f"schema version {version.key} is version {version.number} of {version.name} in "
                f"one registry, and in {self._source} version {stored.number} of {name} with "
                "another definition or name, expected one definition for each id"
            )

    def register(self, name: str, _schema: Schema) -> Registration:
        """Raise RegistryError, because a backup accepts no version."""
        raise RegistryError(f"{self._source} is a backup and accepts no version of {name}")

    def _read_version(self, version_id: str) -> StoredVersion:
        if version_id not in self._by_id:
            raise SchemaNotFoundError(f"schema version {version_id} is not in {self._source}")
        return self._by_id[version_id][0]

    def _read_number(self, subject: str, number: int) -> StoredVersion:
        if (subject, number) not in self._by_number:
            raise SchemaNotFoundError(f"version {number} of {subject} is not in {self._source}")
        return self._by_number[subject, number]

    def _list_versions(self, name: str) -> Collection[int]:
        subject = f"{self._registry}/{name}"
        return [number for of, number in self._by_number if of == subject]


def _name_of(version: StoredVersion) -> str:
    return version.subject.partition("/")[2]


def _rank(version: StoredVersion) -> tuple[bool, str, int]:
    """Return the order in which Confluent's registry, too, chooses among the subjects of an id."""
    name = _name_of(version)
    return name.startswith(OTHER_NAMING), name, -version.number


class OverlayRegistry:
    """A registry in which the ids of backups are found too.

    The registry is asked first. Ids that it does not have, or may not read, are looked up in the
    backups; ids that neither has are errors as without backups.
    """

    def __init__(self, registry: SchemaRegistry, backups: Sequence[BackupRegistry]) -> None:
        self._registry = registry
        self._backups = backups

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are in this registry."""
        return self._registry.kind

    @property
    def source(self) -> str:
        """The sources of the registry and of its backups."""
        return " over ".join([self._registry.source, *(each.source for each in self._backups)])

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key, from the registry or else from a backup.

        Raises:
            SchemaRefusedError: the registry and a backup, or two backups, have different
                definitions under the key; or as in every registry.
        """
        holders = [each for each in self._backups if key in each]
        try:
            version = self._registry.get(key)
        except (SchemaNotFoundError, SchemaForbiddenError):
            # Glue finds the ids of a registry that is still there beside the new one.
            if not holders:
                raise
            version = holders[0].get(key)
        for holder in holders:
            holder.check(version)
        return version

    def register(self, name: str, schema: Schema) -> Registration:
        """Register a schema in the registry; backups do not change."""
        return self._registry.register(name, schema)

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the registry's newest usable version of a schema."""
        return self._registry.latest(name)

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the registry's usable versions of a schema."""
        return self._registry.versions(name)
