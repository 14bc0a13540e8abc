"""A group of an Apicurio Registry for its operator: read whole for a backup, and restored."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import SchemaNotFoundError
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry.apicurio import ApicurioRegistry
from penstock.registry.backup import SchemaBackup
from penstock.registry.interface import StoredVersion
from penstock.schemas import Compatibility


class ApicurioAdmin(ApicurioRegistry):
    """One group of an Apicurio Registry; building it makes no call."""

    @property
    def name(self) -> str:
        """The name that subjects of this registry begin with in a backup."""
        return self._registry

    def list_names(self) -> list[str]:
        """List the names of all allowed schemas."""
        return sorted(self._allowed_names())

    def read_schema(self, name: str, report: ReportProgress = ignore_progress) -> SchemaBackup:
        """Read a schema with all its versions; disabled ones have no definition."""
        subject = f"{self._kind}/{name}"
        numbers = sorted(self._list_versions(name))
        versions: list[StoredVersion] = []
        for number in numbers:
            report(f"versions of {name}", len(versions), len(numbers))
            versions.append(self._read_number(subject, number))
        if not versions:
            raise SchemaNotFoundError(f"schema {name} is not found in {self.source}")
        mode, _ = self._rule(name)
        data_format = versions[-1].data_format
        return SchemaBackup(name, mode, 0, data_format, "", {}, tuple(versions))

    def delete_schema(self, name: str) -> bool:
        """Delete a schema with all its versions; return whether it existed.

        Records that were written with these versions cannot be read any more.
        """
        try:
            self._http.call("DELETE", self._artifact(name))
        except SchemaNotFoundError:
            return False
        return True

    def create_schema(self, schema: SchemaBackup, definition: str) -> None:
        """Create a schema like this one, with its mode and this one version."""
        self._post(schema.name, definition, schema.data_format)
        self._set_mode(schema.name, schema.compatibility)

    def add_version(self, schema: SchemaBackup, definition: str) -> StoredVersion:
        """Register a version and wait until it can be read; an equal one is found again."""
        added = self._read_id(self._post(schema.name, definition, schema.data_format))
        for number, meta in self._metas(schema.name).items():
            if self._read_id(meta) == added:
                return self._read_number(f"{self._kind}/{schema.name}", number)
        raise SchemaNotFoundError(f"schema version {added} of {schema.name} is not found")

    def describe_schema(
        self, name: str, mode: Compatibility, _checkpoint: int, _description: str = ""
    ) -> None:
        """Set a schema's mode; there are no checkpoints, and descriptions are not copied."""
        self._set_mode(name, mode)

    def tag_schema(self, name: str, tags: Mapping[str, str]) -> None:
        """Do nothing: labels are not copied."""
