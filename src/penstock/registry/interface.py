"""The interface of every schema registry, and the values that it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from penstock.framing import FrameKind, SchemaKey
from penstock.schemas import Schema


class VersionStatus(StrEnum):
    """The status of a version, with Glue's names."""

    AVAILABLE = "AVAILABLE"
    PENDING = "PENDING"
    FAILURE = "FAILURE"
    DELETING = "DELETING"


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version as a registry returns it, before any check.

    `id` is the text of the version's key. `subject` is its schema: REGISTRY/NAME in a registry,
    and in a `SchemaStore` the name that its user chose. `guid` is the text of a second key, which
    newer versions of Confluent's registry have; else it is empty.
    """

    id: str
    subject: str
    number: int
    status: VersionStatus
    definition: str
    registered_at: datetime | None
    data_format: str = "AVRO"
    guid: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The texts of all keys of the version."""
        return (self.id, self.guid) if self.guid else (self.id,)


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """One version of a schema, checked and safe to use; callers must not change `schema`."""

    key: SchemaKey
    name: str
    number: int
    status: VersionStatus
    schema: Schema = field(hash=False)
    registered_at: datetime | None


@dataclass(frozen=True, slots=True)
class Registration:
    """The result of `register`; `previous` is the newest usable version below, if there is one.

    `created` is true if this call asked for the version to be stored. If several producers
    register one new definition at the same time, it can be true for more than one of them.
    """

    version: SchemaVersion
    created: bool
    previous: SchemaVersion | None


class SchemaRegistry(Protocol):
    """A registry of Avro schemas whose versions are found by the key in a frame."""

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are in this registry, and the kind of its keys."""

    @property
    def source(self) -> str:
        """The registry's URL with its allow-list, without secrets."""

    def register(self, name: str, schema: Schema) -> Registration:
        """Return the usable version with this definition; a new definition is stored first.

        A definition that the rules refuse is not stored, unless another producer registers at the
        same time.

        Raises:
            SchemaError: no reader could use the schema; nothing is sent.
            IncompatibleSchemaError: the registry's rule refuses the definition.
            SchemaConflictError: the definition contradicts a version of the schema.
            SchemaQuotaError: the registry accepts no more versions.
            RegistryAccessDeniedError, RegistryUnavailableError, RegistryAnswerError: see `get`.
        """

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key.

        Raises:
            SchemaNotFoundError: there is no such version.
            SchemaForbiddenError: the schema is not on the allow-list.
            SchemaRefusedError: the registry's rule refused the version, or it contradicts a
                version below it.
            SchemaError: no reader could use its definition.
            RegistryAccessDeniedError: STS or the registry denies the call (retriable).
            RegistryUnavailableError: no answer in time (retriable).
            RegistryAnswerError: the answer cannot be right (retriable).
        """

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the newest usable version of a schema."""

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the usable versions of a schema, oldest first; empty if it does not exist."""
