"""Schemas and their versions over dictionaries, each named by its ARN.

Refused versions are stored too: they take a number, keep the status FAILURE and are found by
definition like any other version, as users of AWS report (terraform-provider-aws #35152).
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from localcloud.services.glue.registry.avro_types import parse_definition
from localcloud.services.glue.registry.compatibility import ComparedWith, Mode, accepts
from localcloud.services.glue.registry.errors import invalid, not_found, quota_reached

_VERSION_QUOTA = 10_000
_METADATA_QUOTA = 10
_AVRO = "AVRO"
_VERSION = "Schema version"


class Status(StrEnum):
    """The status of a version."""

    AVAILABLE = "AVAILABLE"
    PENDING = "PENDING"
    FAILURE = "FAILURE"
    DELETING = "DELETING"


@dataclass(frozen=True, slots=True)
class Version:
    """A version as callers see it; `subject` is the ARN of its schema."""

    id: str
    subject: str
    number: int
    status: Status
    definition: str
    registered_at: datetime
    data_format: str


@dataclass(slots=True)
class _Entry:
    """A version with its metadata, and the reads and the time until which it is PENDING."""

    version: Version
    pending_reads: int
    pending_until: datetime
    metadata: dict[tuple[str, str], datetime] = field(default_factory=dict)

    @property
    def shown(self) -> Version:
        """The version as callers see it."""
        if self.pending_reads > 0 or _now() < self.pending_until:
            return replace(self.version, status=Status.PENDING)
        return self.version


@dataclass(slots=True)
class _Schema:
    mode: Mode
    data_format: str
    checkpoint: int = 1
    numbers: int = 0
    ids: dict[int, str] = field(default_factory=dict)


class SchemaStore:
    """The schemas of one account and region, safe to share between threads.

    With `pending_reads` or `pending_seconds`, each later version reads as PENDING that many times
    or for that long. Only Avro is compared; other formats are stored unchanged.
    """

    def __init__(self) -> None:
        self.pending_reads = 0
        self.pending_seconds = 0.0
        self.compared_with = ComparedWith.BOTH
        self.version_quota = _VERSION_QUOTA
        self._schemas: dict[str, _Schema] = {}
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.RLock()

    def create(
        self,
        subject: str,
        definition: str,
        mode: Mode = Mode.BACKWARD,
        data_format: str = _AVRO,
    ) -> Version | None:
        """Create a schema with its first version; return None if it exists."""
        with self._lock:
            if subject in self._schemas:
                return None
            self._check_quota()
            self._schemas[subject] = _Schema(mode, data_format)
            return self._keep(subject, definition, Status.AVAILABLE, 0, _now())

    def add(self, subject: str, definition: str) -> Version:
        """Store a version, or return the existing one with exactly this text."""
        with self._lock:
            schema = self._schema(subject)
            if (found := self.find(subject, definition)) is not None:
                return found
            if schema.mode is Mode.DISABLED:
                raise invalid(f"{subject} takes no new version.")
            self._check_quota()
            accepted = schema.data_format != _AVRO or self._is_accepted(schema, definition)
            status = Status.AVAILABLE if accepted else Status.FAILURE
            until = _now() + timedelta(seconds=self.pending_seconds)
            return self._keep(subject, definition, status, self.pending_reads, until)

    def find(self, subject: str, definition: str) -> Version | None:
        """Return the version with this text, whatever its status, or None."""
        with self._lock:
            versions = self.list_versions(subject) if subject in self._schemas else ()
            return next((each for each in versions if each.definition == definition), None)

    def read(self, version_id: str) -> Version:
        """Return a version by id; a read of a pending version uses up one pending read."""
        with self._lock:
            entry = self._entry(version_id)
            shown = entry.shown
            if shown.status is Status.PENDING:
                entry.pending_reads -= 1
            return shown

    def read_number(self, subject: str, number: int) -> Version:
        """Return a version by its schema and number."""
        with self._lock:
            ids = self._schema(subject).ids
            if number not in ids:
                raise not_found(_VERSION)
            return self.read(ids[number])

    def read_newest(self, subject: str) -> Version:
        """Return the newest version whose status is AVAILABLE."""
        versions = [each for each in self.list_versions(subject) if each.status is Status.AVAILABLE]
        if not versions:
            raise not_found(_VERSION)
        return versions[-1]

    def list_versions(self, subject: str) -> tuple[Version, ...]:
        """Return all versions of a schema, whatever their status, oldest first."""
        with self._lock:
            return tuple(self._entries[each].shown for each in self._schema(subject).ids.values())

    def rule(self, subject: str) -> tuple[Mode, int]:
        """Return a schema's mode and checkpoint."""
        with self._lock:
            schema = self._schema(subject)
            return schema.mode, schema.checkpoint

    def update(
        self, subject: str, *, mode: Mode | None = None, checkpoint: int | None = None
    ) -> None:
        """Change a schema's mode, or move its checkpoint."""
        with self._lock:
            schema = self._schema(subject)
            schema.mode = Mode(mode or schema.mode)
            schema.checkpoint = checkpoint or schema.checkpoint

    def begin_delete(self, version_id: str) -> None:
        """Set the status of a version to DELETING, until `delete` removes it."""
        with self._lock:
            entry = self._entry(version_id)
            entry.version = replace(entry.version, status=Status.DELETING)

    def delete(self, version_id: str) -> None:
        """Remove a version and its metadata; its number is not used again."""
        with self._lock:
            version = self._entry(version_id).version
            del self._schemas[version.subject].ids[version.number]
            del self._entries[version_id]

    def drop(self, subject: str) -> None:
        """Remove a schema with all its versions."""
        with self._lock:
            for version_id in self._schema(subject).ids.values():
                del self._entries[version_id]
            del self._schemas[subject]

    def put_metadata(self, version_id: str, key: str, value: str) -> bool:
        """Add a pair to a version's metadata; return False if it exists already."""
        with self._lock:
            pairs = self._entry(version_id).metadata
            if (key, value) in pairs:
                return False
            if len(pairs) == _METADATA_QUOTA:
                raise quota_reached(f"version {version_id} has {len(pairs)} metadata pairs.")
            pairs[key, value] = _now()
            return True

    def remove_metadata(self, version_id: str, key: str, value: str) -> bool:
        """Remove a pair from a version's metadata; return False if it does not exist."""
        with self._lock:
            return self._entry(version_id).metadata.pop((key, value), None) is not None

    def metadata(self, version_id: str) -> dict[tuple[str, str], datetime]:
        """Return the metadata pairs of a version, oldest first, with their times."""
        with self._lock:
            return dict(self._entry(version_id).metadata)

    def _is_accepted(self, schema: _Schema, definition: str) -> bool:
        stored = (self._entries[each].version for each in schema.ids.values())
        available = {
            each.number: parse_definition(each.definition)
            for each in stored
            if each.status is Status.AVAILABLE
        }
        new = parse_definition(definition)
        return accepts(schema.mode, new, available, schema.checkpoint, self.compared_with)

    def _schema(self, subject: str) -> _Schema:
        if subject not in self._schemas:
            raise not_found("Schema")
        return self._schemas[subject]

    def _entry(self, version_id: str) -> _Entry:
        if version_id not in self._entries:
            raise not_found(_VERSION)
        return self._entries[version_id]

    def _check_quota(self) -> None:
        if len(self._entries) >= self.version_quota:
            raise quota_reached(
                f"the registry holds {len(self._entries)} schema versions and takes no more."
            )

    def _keep(
        self, subject: str, definition: str, status: Status, reads: int, until: datetime
    ) -> Version:
        schema, version_id = self._schemas[subject], str(uuid.uuid4())
        schema.numbers += 1
        version = Version(
            version_id, subject, schema.numbers, status, definition, _now(), schema.data_format
        )
        self._entries[version_id] = _Entry(version, reads, until)
        schema.ids[version.number] = version_id
        return self._entries[version_id].shown


def _now() -> datetime:
    return datetime.now(UTC)
