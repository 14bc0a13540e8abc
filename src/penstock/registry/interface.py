"""What every schema registry can do, and the values it answers with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from penstock.framing import FrameKind, SchemaKey
from penstock.schemas import Schema


class VersionStatus(StrEnum):
    """How far a registry is with a version, in Glue's words."""

    AVAILABLE = "AVAILABLE"
    PENDING = "PENDING"
    FAILURE = "FAILURE"
    DELETING = "DELETING"


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """What a registry answers about a version, before anything is checked.

    `id` is the text of the version's key, `subject` its schema: REGISTRY/NAME of a registry, and
    in a `SchemaStore` the name that its user chose.
    """

    id: str
    subject: str
    number: int
    status: VersionStatus
    definition: str
    registered_at: datetime | None
    data_format: str = "AVRO"


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """One version of a schema, checked and fit for use; callers must not change `schema`."""

    key: SchemaKey
    name: str
    number: int
    status: VersionStatus
    schema: Schema = field(hash=False)
    registered_at: datetime | None


@dataclass(frozen=True, slots=True)
class Registration:
    """What `register` did: `previous` is the newest usable version below, if there is one.

    `created` says that this call asked for the version to be stored. Of producers that register
    one new definition at the same instant, more than one may say so.
    """

    version: SchemaVersion
    created: bool
    previous: SchemaVersion | None


class SchemaRegistry(Protocol):
    """A registry of Avro schemas whose versions are found by the key in a frame."""

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are here; keys of this kind say how they are written."""

    @property
    def source(self) -> str:
        """Which registry this is and what it allows, without a secret."""

    def register(self, name: str, schema: Schema) -> Registration:
        """Return the usable version with this definition, storing it first when it is new.

        Raises:
            SchemaError: no reader could use the schema; nothing is sent.
            IncompatibleSchemaError: the registry's rule refuses the definition.
            SchemaConflictError: it contradicts a version below its own.
            SchemaQuotaError: the registry takes no further version.
            RegistryAccessDeniedError, RegistryUnavailableError, RegistryAnswerError: as of `get`.
        """

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key.

        Raises:
            SchemaNotFoundError: there is none.
            SchemaForbiddenError: it is not on the allow-list.
            SchemaRefusedError: the registry's rule or the versions below it refuse it.
            SchemaError: no reader could use its definition.
            RegistryAccessDeniedError: STS or the registry denies the call (retriable).
            RegistryUnavailableError: no answer in time (retriable).
            RegistryAnswerError: the answer cannot be right (retriable).
        """

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the newest usable version of a schema."""

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the usable versions of a schema, oldest first; none when it does not exist."""
