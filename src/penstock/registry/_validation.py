"""The checks of a stored version before it is used, and of a schema before it is registered.

IAM cannot restrict GetSchemaVersion by version id (it allows only `*`), so a record can name any
schema of the account. The allow-list restricts a consumer to the registries it should read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from penstock.errors import InvalidSchemaError, SchemaError, SchemaForbiddenError, SettingsError
from penstock.framing import SchemaKey
from penstock.registry.interface import SchemaVersion, StoredVersion
from penstock.schemas import Schema, canonical_form, check_schema, load_schema


@dataclass(frozen=True, slots=True)
class AllowList:
    """Patterns such as `orders/*` or `*/readings-*`: registry, slash, schema name."""

    patterns: Sequence[str]

    def __post_init__(self) -> None:
        """Raise SettingsError for a pattern that is not of the form REGISTRY/SCHEMA."""
        problems = [
            f"allow-list pattern {pattern!r} is not of the form REGISTRY/SCHEMA"
            for pattern in self.patterns
            if not all(pattern.partition("/")) or pattern.count("/") != 1
        ]
        if problems:
            raise SettingsError(problems)

    def check(self, version_id: str, subject: str) -> None:
        """Raise SchemaForbiddenError unless the subject, REGISTRY/NAME, matches a pattern."""
        registry, _, name = subject.partition("/")
        for pattern in self.patterns:
            allowed_registry, _, allowed_name = pattern.partition("/")
            if fnmatchcase(registry, allowed_registry) and fnmatchcase(name, allowed_name):
                return
        raise SchemaForbiddenError(
            f"schema version {version_id} belongs to {subject}, "
            f"which is not on the allow-list ({', '.join(self.patterns)})"
        )


def accept(stored: StoredVersion, allow: AllowList) -> SchemaVersion:
    """Check a stored version: it is on the allow-list, is Avro, and has a usable schema.

    Raises:
        SchemaForbiddenError: the schema is not on the allow-list.
        SchemaError: the version is not Avro, or no reader could use its definition.
    """
    allow.check(stored.id, stored.subject)
    name = stored.subject.partition("/")[2]
    if stored.data_format != "AVRO":
        raise InvalidSchemaError(
            f"schema version {stored.id} of {name} is {stored.data_format}, expected AVRO"
        )
    try:
        schema = load_schema(stored.definition)
    except SchemaError as error:
        raise type(error)(f"schema version {stored.id} of {name}: {error}") from error
    key = SchemaKey.parse(stored.id)
    return SchemaVersion(key, name, stored.number, stored.status, schema, stored.registered_at)


def write_definition(schema: Schema) -> str:
    """Check a schema and return the definition to register; SchemaError if no reader can use it."""
    check_schema(schema)
    definition = canonical_form(schema)
    load_schema(definition)  # with full names it may exceed the limit of length
    return definition
