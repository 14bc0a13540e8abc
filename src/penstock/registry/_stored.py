"""A version as its registry holds it, and the checks that make it fit for use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.errors import InvalidSchemaError, SchemaError
from penstock.registry.allow_list import AllowList, parse_schema_arn
from penstock.registry.interface import SchemaVersion, VersionStatus
from penstock.schemas import Schema, canonical_form, check_schema, load_schema


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """What a registry answers about a version, before anything is checked."""

    id: str
    arn: str
    number: int
    status: VersionStatus
    definition: str
    registered_at: datetime | None
    data_format: str = "AVRO"


def write_definition(schema: Schema) -> str:
    """Write a schema as it is registered, once it is known that readers can use it."""
    check_schema(schema)
    definition = canonical_form(schema)
    load_schema(definition)  # with its names written out it may be longer than was allowed
    return definition


def accept(stored: StoredVersion, allow: AllowList) -> SchemaVersion:
    """Check what a registry answered: on the allow-list, in Avro, a schema that can be used."""
    allow.check(stored.id, stored.arn)
    _, name = parse_schema_arn(stored.arn)
    if stored.data_format != "AVRO":
        raise InvalidSchemaError(
            f"schema version {stored.id} of {name} is {stored.data_format}, expected AVRO"
        )
    try:
        schema = load_schema(stored.definition)
    except SchemaError as error:
        raise type(error)(f"schema version {stored.id} of {name}: {error}") from error
    return SchemaVersion(
        stored.id, stored.arn, name, stored.number, stored.status, schema, stored.registered_at
    )
