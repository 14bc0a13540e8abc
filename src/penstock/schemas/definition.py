"""Avro schemas as JSON values: their canonical text, and the checks that make them safe to read.

Schemas are untrusted input: anyone who can register one reaches every reader. A schema that
passes these checks is valid Avro, does not contain itself, and bounds the work of any decoder.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias

from penstock.errors import InvalidSchemaError, SchemaLimitError
from penstock.schemas._limits import MAX_DEFINITION_CHARACTERS, check_limits
from penstock.schemas._normal_form import to_schema
from penstock.schemas._shape import check_shape
from penstock.schemas._types import AvroType, resolve

Schema: TypeAlias = dict[str, Any] | list[Any] | str


def load_schema(definition: str) -> Schema:
    """Read the JSON text of a schema and check it.

    Raises:
        InvalidSchemaError: the text is not JSON, or not a valid Avro schema.
        RecursiveSchemaError: a type contains itself.
        SchemaLimitError: too long, too deep, too many fields, too large a fixed.
    """
    return _parse_schema(definition)[0]


def load_canonical(definition: str) -> tuple[Schema, str]:
    """Read a schema as `load_schema` does, and return it with its canonical form."""
    schema, type_ = _parse_schema(definition)
    return schema, _write_text(type_)


def _parse_schema(definition: str) -> tuple[Schema, AvroType]:
    _check_length(definition)
    try:
        schema: Schema = json.loads(
            definition, parse_constant=_refuse_constant, parse_float=_read_float
        )
    except RecursionError:
        raise InvalidSchemaError("the definition nests too deep to be read as JSON") from None
    except ValueError as error:
        raise InvalidSchemaError(f"the definition is not JSON: {error}") from None
    return schema, _check(schema)


def check_schema(schema: Schema) -> None:
    """Check a schema that is a plain JSON value; raises the same errors as `load_schema`."""
    try:
        definition = json.dumps(schema, allow_nan=False, separators=(",", ":"))
        is_plain = json.loads(definition) == schema
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSchemaError(f"the schema is not a JSON value: {error}") from None
    if not is_plain:
        raise InvalidSchemaError("the schema holds tuples or keys that are not text, expected JSON")
    _check_length(definition)
    _check(schema)


def canonical_form(schema: Schema) -> str:
    """Return the text of a schema that is registered, and that caches use as a key.

    Two schemas have the same text if they differ only in white space, in the order of attributes
    or of aliases, in how names are written (with a separate namespace or not), and in how plain
    types are written (`"long"`, `{"type": "long"}`). Everything else makes a difference, the
    order of fields too. The text is a valid definition of the same schema.
    """
    return _write_text(resolve(schema))


def measure_definition(schema: Schema) -> float:
    """Return how much of the most characters the definition of a schema takes, as a share."""
    return len(canonical_form(schema)) / MAX_DEFINITION_CHARACTERS


def _write_text(type_: AvroType) -> str:
    return json.dumps(to_schema(type_), separators=(",", ":"))


def _check_length(definition: str) -> None:
    if len(definition) > MAX_DEFINITION_CHARACTERS:
        raise SchemaLimitError(
            f"the definition has {len(definition):,} characters, "
            f"expected at most {MAX_DEFINITION_CHARACTERS:,}"
        )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _read_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is not a number within the range of a double")
    return value


def _check(schema: Any) -> AvroType:
    check_shape(schema)
    type_ = resolve(schema)
    check_limits(type_)
    return type_
