"""What an account holds in one region: registries, their schemas, and the versions in a store."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

from penstock.registry import SchemaStore

REGISTRY_QUOTA = 100
DEFAULT_REGISTRY = "default-registry"


def show_time(time: datetime) -> str:
    """Write a time as the registry answers it, which is text and not a number of seconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _now() -> str:
    return show_time(datetime.now(UTC))


@dataclass(slots=True)
class Described:
    """What registries and schemas have in common: how people find and describe them."""

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
    """A registry: a name under which schemas are kept."""


@dataclass(slots=True, kw_only=True)
class Schema(Described):
    """A schema, without its versions and the rule for them: these are the store's."""

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
        """Forget a schema with all its versions."""
        self.store.drop(schema.arn)
        del self.schemas[schema.arn]
