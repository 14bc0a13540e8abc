"""The three formats of definitions: what is looked at before a version is kept.

Avro is read for good. Of JSON it is known that AWS compares nothing; for Protocol Buffers there is
no reader here, so their versions are kept uncompared or not at all.
"""

from __future__ import annotations

import json
import re

from localcloud.door.operations import AwsError
from penstock.errors import SchemaError
from penstock.schemas import Compatibility, load_schema

_MESSAGE = re.compile(r"\b(message|enum)\s+\w+\s*\{")
_UNCOMPARED = frozenset({Compatibility.NONE, Compatibility.DISABLED})


def find_problem(definition: str, data_format: str) -> str | None:
    """Say what is wrong with the syntax of a definition, if anything."""
    try:
        if data_format == "AVRO":
            load_schema(definition)
        elif data_format == "JSON" and not isinstance(json.loads(definition), dict | bool):
            return "a JSON schema is an object, true or false"
    except (SchemaError, ValueError, RecursionError) as error:
        return str(error)
    if data_format == "PROTOBUF" and not _is_protobuf(definition):
        return "a Protocol Buffers schema has a message or an enum, and as many { as }"
    return None


def _is_protobuf(definition: str) -> bool:
    balanced = definition.count("{") == definition.count("}")
    return balanced and _MESSAGE.search(definition) is not None


def check_definition(definition: str, data_format: str) -> None:
    """Refuse a definition whose syntax is wrong."""
    problem = find_problem(definition, data_format)
    if problem is not None:
        said = f"Schema definition of {data_format} data format is invalid: {problem}"
        raise AwsError("InvalidInputException", said)


def check_comparable(data_format: str, mode: Compatibility) -> None:
    """Refuse to pass a verdict that localcloud cannot find."""
    if data_format == "PROTOBUF" and mode not in _UNCOMPARED:
        said = (
            f"localcloud cannot compare PROTOBUF definitions, which the schema's mode {mode} asks "
            "for; only mode NONE takes a further version here"
        )
        raise AwsError("NotImplemented", said, status=501)
