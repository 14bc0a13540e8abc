"""A copy of one schema of a registry, which answers as the registry would and changes nothing."""

from __future__ import annotations

from penstock.errors import SchemaNotFoundError
from penstock.registry.admin import RegistryAdmin
from penstock.registry.memory import MemoryRegistry
from penstock.registry.rules import ComparedWith
from penstock.registry.store import SchemaStore


class TrialRegistry(MemoryRegistry):
    """A registry in memory with the versions of one schema of another one, under its rule.

    Raises (when built):
        RegistryError: the registry denies a call, does not answer, or does not exist.
    """

    def __init__(self, admin: RegistryAdmin, name: str) -> None:
        store = SchemaStore()
        super().__init__(store, compatibility=admin.mode)
        self._admin = admin
        try:
            schema = admin.read_schema(name)
        except SchemaNotFoundError:
            admin.list_names()  # raises if the registry is not there either
            return
        store.restore(f"{self._registry}/{name}", schema)
        if not schema.checkpoint:
            store.compared_with = ComparedWith.PREVIOUS

    @property
    def source(self) -> str:
        """The URL of the registry that is copied."""
        return self._admin.source
