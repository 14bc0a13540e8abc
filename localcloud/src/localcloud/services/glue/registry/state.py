"""The state of an account in one region: registries, their schemas, and the store of versions."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

from localcloud.services.glue.registry.store import SchemaStore

REGISTRY_QUOTA = 100
DEFAULT_REGISTRY = "default-registry"


def show_time(time: datetime) -> str:
    """Return a time as the registry answers it, which is text and not a number of seconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _now() -> str:
    return show_time(datetime.now(UTC))


@dataclass(slots=True)
class Described:
    """The common members of registries and schemas."""

    name: str
    arn: str
    description: str | None
    tags: dict[str, str]
    created: str = field(default_factory=_now)
    updated: str = field(default_factory=_now)

    def describe_as(self, description: str | None) -> None:
        """Change the description, unless none is given, and the time of the last change."""
        if description is not None:
            self.description = description
        self.updated = _now()


@dataclass(slots=True)
class Registry(Described):
    """A registry: a namespace of schemas."""


@dataclass(slots=True, kw_only=True)
class Schema(Described):
    """A schema without its versions and mode: the store has them."""

    registry: Registry
    data_format: str


@dataclass(slots=True)
class GlueRegistries:
    """The registries of one account and region."""

    store: SchemaStore = field(default_factory=SchemaStore)
    registries: dict[str, Registry] = field(default_factory=dict)  # by name
    schemas: dict[str, Schema] = field(default_factory=dict)  # by ARN
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def schemas_of(self, registry: Registry) -> list[Schema]:
        """List the schemas of a registry."""
        return [schema for schema in self.schemas.values() if schema.registry is registry]

    def drop_schema(self, schema: Schema) -> None:
        """Remove a schema with all its versions."""
        self.store.drop(schema.arn)
        del self.schemas[schema.arn]
