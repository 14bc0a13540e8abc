"""Definitions of schemas for tests, and how tests look at versions."""

from __future__ import annotations

import json


def avro(**fields):
    """Write a record schema; a type that ends with ? is optional."""
    described = [
        {"name": name, "type": ["null", type_[:-1]], "default": None}
        if type_.endswith("?")
        else {"name": name, "type": type_}
        for name, type_ in fields.items()
    ]
    return json.dumps({"type": "record", "name": "Reading", "fields": described})


FIRST = avro(id="string")
SECOND = avro(id="string", t="double?")  # may follow the first in every mode
REFUSED = avro(id="long")  # may follow it in none
MESSAGE = 'syntax = "proto3"; message Reading { string id = 1; }'
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def read_number(glue, schema_id, number):
    """Read a version by its number."""
    return glue.get_schema_version(
        SchemaId=schema_id, SchemaVersionNumber={"VersionNumber": number}
    )
