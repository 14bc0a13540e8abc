"""The checks of a stored version before it is used, and of a schema before it is registered."""

from __future__ import annotations

from penstock.errors import InvalidSchemaError, SchemaError
from penstock.framing import SchemaKey
from penstock.registry._validation import AllowList
from penstock.registry.interface import SchemaVersion, StoredVersion
from penstock.schemas import Schema, canonical_form, check_schema, load_schema


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
