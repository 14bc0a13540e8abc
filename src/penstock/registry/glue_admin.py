"""A Glue registry for its operator: read whole for a backup, and restored from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import SchemaNotFoundError
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry.backup import SchemaBackup
from penstock.registry.glue import GlueRegistry
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility

_PAGE_SIZE = 100


class GlueAdmin(GlueRegistry):
    """One registry of the AWS Glue Schema Registry; building it makes no call."""

    @property
    def name(self) -> str:
        """The registry's name."""
        return self._registry

    def list_names(self) -> list[str]:
        """List the names of all schemas, without those that are being deleted."""
        names: list[str] = []
        request: dict[str, Any] = {
            "RegistryId": {"RegistryName": self._registry},
            "MaxResults": _PAGE_SIZE,
        }

        def list_page() -> str | None:
            answer = self._glue.call("ListSchemas", request)
            names.extend(
                each["SchemaName"]
                for each in answer["Schemas"]
                if each.get("SchemaStatus") != "DELETING"
            )
            return answer.get("NextToken")

        while token := self._call(list_page):
            request["NextToken"] = token
        return sorted(names)

    def read_schema(self, name: str, report: ReportProgress = ignore_progress) -> SchemaBackup:
        """Read a schema with all its versions, except those that are being deleted."""
        schema = self._call_glue("GetSchema", {"SchemaId": self._schema_id(name)})
        tags = self._call_glue("GetTags", {"ResourceArn": schema["SchemaArn"]})["Tags"]
        numbers = sorted(self._list_versions(name))
        found: list[StoredVersion | None] = []
        for number in numbers:
            report(f"versions of {name}", len(found), len(numbers))
            found.append(self._read_listed(name, number))
        return SchemaBackup(
            name,
            Compatibility(schema["Compatibility"]),
            schema["SchemaCheckpoint"],
            schema["DataFormat"],
            schema.get("Description") or "",
            tags,
            tuple(version for version in found if version is not None),
        )

    def create_schema(self, schema: SchemaBackup, definition: str) -> None:
        """Create a schema like this one, with its mode and this one version."""
        request = {
            "RegistryId": {"RegistryName": self._registry},
            "SchemaName": schema.name,
            "DataFormat": schema.data_format,
            "Compatibility": schema.compatibility.value,
            "SchemaDefinition": definition,
        }
        if schema.tags:
            request["Tags"] = dict(schema.tags)
        if schema.description:
            request["Description"] = schema.description
        self._create_once(request)

    def add_version(self, schema: SchemaBackup, definition: str) -> StoredVersion:
        """Register a version and wait for its final status; an equal one is found again."""
        return self._read_final(self._add(schema.name, definition))

    def describe_schema(
        self, name: str, mode: Compatibility, checkpoint: int, description: str = ""
    ) -> None:
        """Set a schema's mode, its checkpoint, and its description unless that is empty."""
        request: dict[str, Any] = {
            "SchemaId": self._schema_id(name),
            "SchemaVersionNumber": {"VersionNumber": checkpoint},
            "Compatibility": mode.value,
        }
        if description:
            request["Description"] = description
        self._call_glue("UpdateSchema", request)

    def tag_schema(self, name: str, tags: Mapping[str, str]) -> None:
        """Add tags to a schema."""
        if tags:
            arn = self._call_glue("GetSchema", {"SchemaId": self._schema_id(name)})["SchemaArn"]
            self._call_glue("TagResource", {"ResourceArn": arn, "TagsToAdd": dict(tags)})

    def _call_glue(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._call(lambda: self._glue.call(operation, request))

    def _read_listed(self, name: str, number: int) -> StoredVersion | None:
        """Read a version after waiting while it is PENDING; None if it is gone by now."""
        try:
            version = self._read_number(f"{self._registry}/{name}", number)
            if version.status is VersionStatus.PENDING:
                version = self._read_final(version.id)
        except SchemaNotFoundError:
            return None
        return None if version.status is VersionStatus.DELETING else version
