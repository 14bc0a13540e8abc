"""Glue's rules over dictionaries, as far as its documentation and its users describe them.

They are those of `MemoryRegistry`, and of the `TrialRegistry` made from it. Refused versions are
stored too: they take a number, keep the status FAILURE and are found by definition like any other
version.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from penstock.errors import (
    IncompatibleSchemaError,
    SchemaNotFoundError,
    SchemaQuotaError,
)
from penstock.registry.backup import SchemaBackup
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.registry.rules import ComparedWith, check_rule
from penstock.schemas import Compatibility, load_schema

_VERSION_QUOTA = 10_000
_AVRO = "AVRO"


@dataclass(slots=True)
class _StoredSchema:
    mode: Compatibility
    data_format: str = _AVRO
    checkpoint: int = 1
    taken: int = 0
    ids: dict[int, str] = field(default_factory=dict)


class SchemaStore:
    """The schemas of a registry, safe to share between threads.

    With `pending_reads`, each later version reads as PENDING that many times. `version_quota`
    limits the number of versions, and `compared_with` selects a reading of the rules. Only Avro is
    parsed and compared; other formats are stored unchanged.
    """

    def __init__(self, *, compared_with: ComparedWith = ComparedWith.BOTH) -> None:
        self.pending_reads = 0
        self.compared_with = compared_with
        self.version_quota = _VERSION_QUOTA
        self._schemas: dict[str, _StoredSchema] = {}
        self._versions: dict[str, StoredVersion] = {}
        self._pending: dict[str, int] = {}
        self._metadata: dict[str, set[tuple[str, str]]] = {}
        self._lock = threading.RLock()

    def create(
        self, subject: str, definition: str, mode: Compatibility = Compatibility.BACKWARD
    ) -> StoredVersion | None:
        """Create a schema with its first version; return None if the subject exists."""
        with self._lock:
            if subject in self._schemas:
                return None
            load_schema(definition)
            self._check_quota()
            self._schemas[subject] = _StoredSchema(mode)
            return self._keep(subject, definition, VersionStatus.AVAILABLE)

    def restore(self, subject: str, schema: SchemaBackup) -> None:
        """Hold a schema as it is in another registry, with its ids, numbers and statuses."""
        versions = [replace(each, subject=subject) for each in schema.versions]
        taken = max((each.number for each in versions), default=0)
        ids = {each.number: each.id for each in versions}
        with self._lock:
            self._schemas[subject] = _StoredSchema(
                schema.compatibility, schema.data_format, schema.checkpoint, taken, ids
            )
            self._versions |= {each.id: each for each in versions}

    def add(self, subject: str, definition: str) -> StoredVersion:
        """Store a version, or return the existing one with exactly this text.

        Raises:
            IncompatibleSchemaError: the schema's mode is DISABLED.
            SchemaQuotaError: the store accepts no more versions.
        """
        with self._lock:
            schema = self._schema(subject)
            if (found := self.find(subject, definition)) is not None:
                return found
            if schema.mode is Compatibility.DISABLED:
                raise IncompatibleSchemaError(
                    f"{subject} takes no new version", rule=schema.mode, diff=""
                )
            refused = schema.data_format == _AVRO and self._is_refused(schema, definition)
            self._check_quota()
            status = VersionStatus.FAILURE if refused else VersionStatus.AVAILABLE
            added = self._keep(subject, definition, status)
            self._pending[added.id] = self.pending_reads
            return added

    def find(self, subject: str, definition: str) -> StoredVersion | None:
        """Return the version with this text, whatever its status, or None."""
        with self._lock:
            versions = self.list_versions(subject) if subject in self._schemas else ()
            return next((each for each in versions if each.definition == definition), None)

    def read(self, version_id: str) -> StoredVersion:
        """Return a version by id; a read of a pending version uses up one pending read."""
        with self._lock:
            entry = self._entry(version_id)
            if not self._pending.get(version_id):
                return entry
            self._pending[version_id] -= 1
            return replace(entry, status=VersionStatus.PENDING)

    def read_number(self, subject: str, number: int) -> StoredVersion:
        """Return a version by its schema and number."""
        with self._lock:
            ids = self._schema(subject).ids
            if number not in ids:
                raise SchemaNotFoundError(f"version {number} of {subject} is not found")
            return self.read(ids[number])

    def list_versions(self, subject: str) -> tuple[StoredVersion, ...]:
        """Return all versions of a schema, whatever their status, oldest first."""
        with self._lock:
            return tuple(self._versions[each] for each in self._schema(subject).ids.values())

    def rule(self, subject: str) -> tuple[Compatibility, int]:
        """Return a schema's mode and checkpoint."""
        with self._lock:
            schema = self._schema(subject)
            return schema.mode, schema.checkpoint

    def update(
        self, subject: str, *, mode: Compatibility | None = None, checkpoint: int | None = None
    ) -> None:
        """Change a schema's mode, or move its checkpoint."""
        with self._lock:
            schema = self._schema(subject)
            schema.mode = mode or schema.mode
            schema.checkpoint = checkpoint or schema.checkpoint

    def begin_delete(self, version_id: str) -> None:
        """Set the status of a version to DELETING, until `delete` removes it."""
        with self._lock:
            entry = self._entry(version_id)
            self._versions[version_id] = replace(entry, status=VersionStatus.DELETING)

    def delete(self, version_id: str) -> None:
        """Remove a version and its metadata; its number is not used again."""
        with self._lock:
            entry = self._entry(version_id)
            del self._schemas[entry.subject].ids[entry.number]
            del self._versions[version_id]
            self._pending.pop(version_id, None)
            self._metadata.pop(version_id, None)

    def put_metadata(self, version_id: str, key: str, value: str) -> None:
        """Add a pair to a version's metadata, unless it is there already."""
        with self._lock:
            self._entry(version_id)
            self._metadata.setdefault(version_id, set()).add((key, value))

    def metadata(self, version_id: str) -> frozenset[tuple[str, str]]:
        """Return the metadata pairs of a version."""
        with self._lock:
            return frozenset(self._metadata.get(version_id, ()))

    def _is_refused(self, schema: _StoredSchema, definition: str) -> bool:
        available = {
            number: load_schema(each.definition)
            for number, version_id in schema.ids.items()
            if (each := self._versions[version_id]).status is VersionStatus.AVAILABLE
        }
        new = load_schema(definition)
        return bool(check_rule(new, available, schema.mode, schema.checkpoint, self.compared_with))

    def _schema(self, subject: str) -> _StoredSchema:
        if subject not in self._schemas:
            raise SchemaNotFoundError(f"schema {subject} is not found")
        return self._schemas[subject]

    def _entry(self, version_id: str) -> StoredVersion:
        if version_id not in self._versions:
            raise SchemaNotFoundError(f"schema version {version_id} is not found")
        return self._versions[version_id]

    def _check_quota(self) -> None:
        if len(self._versions) >= self.version_quota:
            raise SchemaQuotaError(
                f"the registry holds {len(self._versions)} schema versions and takes no more"
            )

    def _keep(self, subject: str, definition: str, status: VersionStatus) -> StoredVersion:
        schema = self._schemas[subject]
        schema.taken += 1
        version = StoredVersion(
            str(uuid.uuid4()),
            subject,
            schema.taken,
            status,
            definition,
            datetime.now(UTC),
            schema.data_format,
        )
        self._versions[version.id] = version
        schema.ids[version.number] = version.id
        return version
