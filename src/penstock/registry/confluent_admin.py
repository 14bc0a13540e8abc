"""A registry with Confluent's API for its operator: read whole for a backup, and restored from one.

Deleted subjects and versions are read too, as long as the registry answers for their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from penstock.errors import RegistryError, SchemaNotFoundError
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry._http_client import reading_answer
from penstock.registry._http_registry import DELETED
from penstock.registry.backup import SchemaBackup
from penstock.registry.confluent import ConfluentRegistry
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility


class ConfluentAdmin(ConfluentRegistry):
    """One registry with Confluent's API; building it makes no call."""

    @property
    def name(self) -> str:
        """The name that subjects of this registry begin with in a backup."""
        return self._registry

    def list_names(self) -> list[str]:
        """List the names of all allowed schemas, deleted ones too."""
        subjects = self._http.call("GET", "/subjects", query=DELETED)
        with reading_answer():
            names = [self._subjects.name_of(str(each)) for each in subjects]
        return sorted(filter(self._is_allowed, names))

    def read_schema(self, name: str, report: ReportProgress = ignore_progress) -> SchemaBackup:
        """Read a schema with all its versions; deleted ones have the status DELETING."""
        path = f"{self._subject(name)}/versions"
        try:
            live = set(self._list_versions(name))
        except SchemaNotFoundError:
            live = set()
        answer = self._http.call("GET", path, query=DELETED)
        with reading_answer():
            numbers = sorted({int(number) for number in answer} | live)
        versions: list[StoredVersion] = []
        for number in numbers:
            report(f"versions of {name}", len(versions), len(numbers))
            versions.append(self._read_any(f"{path}/{number}", number in live))
        if not versions:
            raise SchemaNotFoundError(f"schema {name} is not found in {self.source}")
        mode, _ = self._rule(name)
        usable = [each for each in versions if each.number in live] or versions
        return SchemaBackup(name, mode, 0, usable[-1].data_format, "", {}, tuple(versions))

    def create_schema(self, schema: SchemaBackup, definition: str) -> None:
        """Create a schema like this one, with its mode and this one version."""
        self._create_with_mode(schema.name, schema.compatibility, definition, schema.data_format)

    def add_version(self, schema: SchemaBackup, definition: str) -> StoredVersion:
        """Register a version and wait until it can be read; an equal one is found again."""
        added = self._post(schema.name, definition, schema.data_format)
        return self._await_stored(schema.name, added)

    def describe_schema(
        self, name: str, mode: Compatibility, _checkpoint: int, _description: str = ""
    ) -> None:
        """Set a schema's mode; this API has neither checkpoints nor descriptions."""
        self._set_mode(name, mode)

    def tag_schema(self, name: str, tags: Mapping[str, str]) -> None:
        """Do nothing: this API has no tags."""

    def _read_reference(self, place: tuple[str, int], seen: set[tuple[str, int]]) -> Iterator[str]:
        """Yield the definitions that the registry still has.

        Without the others, the definition stays as it is, and its user is told what is wrong.
        """
        with suppress(SchemaNotFoundError):
            yield from super()._read_reference(place, seen)

    def _read_any(self, path: str, is_live: bool) -> StoredVersion:
        answer = self._http.call("GET", path, query=DELETED)
        stored = self._stored(answer)
        if stored.data_format != "AVRO" and answer.get("references"):
            name = stored.subject.partition("/")[2]
            raise RegistryError(
                f"version {stored.number} of schema {name} is {stored.data_format} with references "
                "to other subjects, expected references in AVRO only, where they can be replaced"
            )
        return stored if is_live else replace(stored, status=VersionStatus.DELETING)
