"""The three formats of definitions and the checks before a version is stored.

Avro is parsed completely. AWS compares no JSON schemas. There is no parser for Protocol Buffers, so
their versions are stored without a comparison or refused.
"""

from __future__ import annotations

import json
import re

from localcloud.door.errors import AwsError
from localcloud.services.glue.registry.avro_types import parse_definition
from localcloud.services.glue.registry.compatibility import Mode
from localcloud.services.glue.registry.errors import invalid

_MESSAGE = re.compile(r"\b(message|enum)\s+\w+\s*\{")
_UNCOMPARED = frozenset({Mode.NONE, Mode.DISABLED})


def find_problem(definition: str, data_format: str) -> str | None:
    """Return the syntax error of a definition, None if it is valid."""
    try:
        if data_format == "AVRO":
            parse_definition(definition)
        elif data_format == "JSON" and not isinstance(json.loads(definition), dict | bool):
            return "a JSON schema is an object, true or false"
    except (ValueError, RecursionError) as error:
        return str(error)
    if data_format == "PROTOBUF" and not _is_protobuf(definition):
        return "a Protocol Buffers schema has a message or an enum, and as many { as }"
    return None


def _is_protobuf(definition: str) -> bool:
    balanced = definition.count("{") == definition.count("}")
    return balanced and _MESSAGE.search(definition) is not None


def check_definition(definition: str, data_format: str) -> None:
    """Raise AwsError if the syntax of a definition is invalid."""
    problem = find_problem(definition, data_format)
    if problem is not None:
        raise invalid(f"Schema definition of {data_format} data format is invalid: {problem}")


def check_comparable(data_format: str, mode: Mode) -> None:
    """Raise AwsError for a comparison that localcloud cannot make."""
    if data_format == "PROTOBUF" and mode not in _UNCOMPARED:
        said = (
            f"localcloud cannot compare PROTOBUF definitions, which the schema's mode {mode} asks "
            "for; only mode NONE takes a further version here"
        )
        raise AwsError("NotImplemented", said, status=501)
