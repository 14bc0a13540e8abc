"""A registry in memory as its operator reads it; it counts calls that write."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.registry import SchemaBackup, SchemaStore
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility

_REGISTRY = "memory"


class MemoryAdmin(MemoryRegistry):
    """The memory registry over a store, with what `RegistryAdmin` has for reading."""

    name = _REGISTRY

    def __init__(self, store: SchemaStore, mode: Compatibility | None = None) -> None:
        super().__init__(store, compatibility=mode)
        self.store = store
        self.writes = 0

    def list_names(self) -> Sequence[str]:
        """List the names of all schemas."""
        return sorted(subject.partition("/")[2] for subject in self.store._schemas)

    def read_schema(self, name: str, report: object = None) -> SchemaBackup:
        """Read a schema with all its versions."""
        subject = f"{_REGISTRY}/{name}"
        mode, checkpoint = self.store.rule(subject)
        versions = self.store.list_versions(subject)
        return SchemaBackup(name, mode, checkpoint, "AVRO", "", {}, versions)

    def _add(self, name: str, definition: str) -> str:
        self.writes += 1
        return super()._add(name, definition)

    def _create(self, name: str, definition: str) -> str | None:
        self.writes += 1
        return super()._create(name, definition)

    def _change_mode(self, name: str, mode: Compatibility, checkpoint: int) -> None:
        self.writes += 1
        super()._change_mode(name, mode, checkpoint)

    def _mark_refused(self, version_id: str) -> None:
        self.writes += 1
        super()._mark_refused(version_id)
