"""The checks that make a version fit for use, and a schema fit to be registered."""

from __future__ import annotations

from penstock.errors import InvalidSchemaError, SchemaError
from penstock.framing import SchemaKey
from penstock.registry.allow_list import AllowList
from penstock.registry.interface import SchemaVersion, StoredVersion
from penstock.schemas import Schema, canonical_form, check_schema, load_schema


def accept(stored: StoredVersion, allow: AllowList) -> SchemaVersion:
    """Check what a registry answered: on the allow-list, in Avro, a schema that can be used."""
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
    """Write a schema as it is registered, once it is known that readers can use it."""
    check_schema(schema)
    definition = canonical_form(schema)
    load_schema(definition)  # with its names written out it may be longer than was allowed
    return definition
