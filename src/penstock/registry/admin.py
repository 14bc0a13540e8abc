"""A schema registry for its operator, who reads it whole and writes schemas as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from penstock.progress import ReportProgress, ignore_progress
from penstock.registry.backup import SchemaBackup
from penstock.registry.interface import SchemaRegistry, StoredVersion
from penstock.schemas import Compatibility


class RegistryAdmin(SchemaRegistry, Protocol):
    """A registry for its operator: all schemas can be read, and restored."""

    @property
    def name(self) -> str:
        """The registry's name."""

    @property
    def mode(self) -> Compatibility | None:
        """The mode of schemas that get a new version; None leaves it as it is."""

    def list_names(self) -> Sequence[str]:
        """List the names of all schemas.

        Raises:
            SchemaNotFoundError: there is no such registry.
            RegistryError: the registry denies the call, or does not answer.
        """

    def read_schema(self, name: str, report: ReportProgress = ignore_progress) -> SchemaBackup:
        """Read a schema with all its versions, and report their number while it grows.

        Raises:
            SchemaNotFoundError: there is no such schema.
        """

    def create_schema(self, schema: SchemaBackup, definition: str) -> None:
        """Create a schema like this one, with its mode and this one version.

        If the schema exists by now, nothing happens.
        """

    def add_version(self, schema: SchemaBackup, definition: str) -> StoredVersion:
        """Register a version and wait for its final status; an equal one is found again."""

    def describe_schema(
        self, name: str, mode: Compatibility, checkpoint: int, description: str = ""
    ) -> None:
        """Set a schema's mode, its checkpoint, and its description unless that is empty."""

    def tag_schema(self, name: str, tags: Mapping[str, str]) -> None:
        """Add tags to a schema."""
