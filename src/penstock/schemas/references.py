"""Schemas with references to other schemas, as Confluent's and Apicurio's registries store them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from penstock.errors import InvalidSchemaError
from penstock.schemas._normal_form import to_schema
from penstock.schemas._types import resolve
from penstock.schemas.definition import load_schema

# The record that holds all the types. Types without a namespace would inherit one from its name.
_HOLDER = "PenstockReferences_"


def inline_references(definition: str, references: Sequence[str]) -> str:
    """Return one definition in which each referenced type stands where it is first used.

    Args:
        definition: the schema that uses the types.
        references: the definitions of the types; a definition follows those that it uses.

    Raises:
        SchemaError: the definitions together are not a valid schema.
    """
    try:
        types = [json.loads(each) for each in (*references, definition)]
    except (ValueError, RecursionError) as error:
        raise InvalidSchemaError(f"a definition or a reference is not JSON: {error}") from None
    fields = [{"name": f"f{at}", "type": each} for at, each in enumerate(types)]
    holder = load_schema(json.dumps({"type": "record", "name": _HOLDER, "fields": fields}))
    return json.dumps(to_schema(resolve(holder).fields[-1].type), separators=(",", ":"))
