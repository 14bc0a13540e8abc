"""A registry in the memory of this process, with Glue's rules, for tests and examples."""

from __future__ import annotations

from collections.abc import Collection

from penstock.attempts import Attempts
from penstock.registry._base import (
    GLUE_READINGS,
    PENDING_ATTEMPTS,
    REFUSED_MARK,
    VersionedRegistry,
)
from penstock.registry._validation import AllowList
from penstock.registry.interface import StoredVersion
from penstock.registry.store import SchemaStore
from penstock.schemas import Compatibility

_REGISTRY = "memory"


class MemoryRegistry(VersionedRegistry):
    """A registry over a `SchemaStore`, which several registries may share.

    `compatibility` is the mode of schemas that get a version, BACKWARD for new ones unless given.
    """

    _readings = GLUE_READINGS

    def __init__(
        self,
        store: SchemaStore | None = None,
        *,
        compatibility: Compatibility | None = None,
        pending: Attempts = PENDING_ATTEMPTS,
    ) -> None:
        super().__init__(_REGISTRY, AllowList((f"{_REGISTRY}/*",)), pending, compatibility)
        self._schemas = SchemaStore() if store is None else store

    @property
    def source(self) -> str:
        """The registry's URL."""
        return "memory://"

    def _find_version(self, name: str, definition: str) -> str | None:
        found = self._schemas.find(_subject(name), definition)
        return found.id if found else None

    def _add(self, name: str, definition: str) -> str:
        return self._schemas.add(_subject(name), definition).id

    def _create(self, name: str, definition: str) -> str | None:
        mode = self._mode or Compatibility.BACKWARD
        made = self._schemas.create(_subject(name), definition, mode)
        return made.id if made else None

    def _read_version(self, version_id: str) -> StoredVersion:
        return self._schemas.read(version_id)

    def _read_number(self, subject: str, number: int) -> StoredVersion:
        return self._schemas.read_number(subject, number)

    def _list_versions(self, name: str) -> Collection[int]:
        return [each.number for each in self._schemas.list_versions(_subject(name))]

    def _rule(self, name: str) -> tuple[Compatibility, int]:
        return self._schemas.rule(_subject(name))

    def _change_mode(self, name: str, mode: Compatibility, checkpoint: int) -> None:
        self._schemas.update(_subject(name), mode=mode, checkpoint=checkpoint)

    def _mark_refused(self, version_id: str) -> None:
        self._schemas.put_metadata(version_id, *REFUSED_MARK)


def _subject(name: str) -> str:
    return f"{_REGISTRY}/{name}"
