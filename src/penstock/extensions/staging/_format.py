"""The format of the configuration file, as a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Schema = dict[str, Any]

# Names of an older program, which the file may use, and our names.
ALIASES: Final[Mapping[str, str]] = {
    "schema_registry_url": "registry",
    "kafka_bootstrap_servers": "kafka",
    "startingOffsets": "starting",
    "consumer_group_id": "group_prefix",
}
TABLE_ALIASES: Final[Mapping[str, str]] = {
    "target_table_name": "name",
    "topic_name": "topics",
    "column_names": "columns",
}


def _text(description: str, pattern: str = "") -> Schema:
    more = {"pattern": pattern} if pattern else {}
    return {"description": description, "type": "string", **more}


def _choice(description: str, *words: str) -> Schema:
    return {"description": description, "type": "string", "enum": list(words)}


def _list_of(description: str, item: Schema) -> Schema:
    return {
        "description": description,
        "type": "array",
        "items": item,
        "minItems": 1,
        "uniqueItems": True,
    }


def _count(description: str) -> Schema:
    return {"description": description, "type": "integer", "minimum": 1}


def _object(description: str, properties: Mapping[str, Schema], *required: str) -> Schema:
    return {
        "description": description,
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _one_of(*names: str) -> Schema:
    """Return the rule that at least one of the names is present."""
    return {"anyOf": [{"required": [name]} for name in names]}


def _not_both(one: str, other: str) -> Schema:
    return {"not": {"required": [one, other]}}


_NAME: Final = _text("a name of a-z, 0-9 and _", "^[a-z0-9_]+$")
_TOPIC: Final = _text("the name of a topic", "^[A-Za-z0-9._-]{1,249}$")
_FIELD: Final = _text("the name of a field", "^.+$")
_FIELDS: Final = {
    "description": "the name of a column, or several names in a list",
    "anyOf": [_FIELD, _list_of("the names of columns", _FIELD)],
}
_SERVERS: Final = {
    "description": "brokers as host:port, in a list or separated by commas",
    "anyOf": [
        _text("brokers", "^[^ :,]+:[0-9]+( *, *[^ :,]+:[0-9]+)*$"),
        _list_of("brokers", _text("a broker as host:port", "^[^ :,]+:[0-9]+$")),
    ],
}
_STARTING: Final = {
    "description": "earliest, latest, a time like 2026-11-21T08:00:00+00:00, or offsets like"
    ' {"orders": {"0": 12}}, also as text',
    "anyOf": [
        _choice("a position", "earliest", "latest"),
        _text("a time", "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$"),
        _text("offsets as text", r"^\s*\{"),
        {
            "description": "offsets by topic and partition",
            "type": "object",
            "minProperties": 1,
            "propertyNames": _TOPIC,
            "additionalProperties": {
                "description": "offsets by partition",
                "type": "object",
                "minProperties": 1,
                "propertyNames": _text("the number of a partition", "^[0-9]+$"),
                "additionalProperties": {
                    "description": "an offset, -1 for latest or -2 for earliest",
                    "type": "integer",
                    "minimum": -2,
                },
            },
        },
    ],
}
_KAFKA: Final = _object(
    "an object with bootstrap_servers and the settings of the login",
    {
        "bootstrap_servers": _SERVERS,
        "security": _choice("iam, scram, tls or plaintext", "iam", "scram", "tls", "plaintext"),
        "secret_arn": _text("the ARN of a secret of Secrets Manager", "^arn:"),
        "ca_file": _text("the path of a CA bundle"),
        "region": _text("an AWS region", "^[a-z0-9-]+$"),
        "role_arn": _text("the ARN of a role", "^arn:"),
        "external_id": _text("an external id"),
    },
    "bootstrap_servers",
)
_DEPENDENCY: Final = _object(
    "an object with table, key, name and optional",
    {
        "table": _text("the name of another table of this file", "^.+$"),
        "key": {
            "description": "an object: each field of that table's key, and the column of the"
            " driver that has its value",
            "type": "object",
            "minProperties": 1,
            "additionalProperties": _FIELD,
        },
        "name": _text(
            "the attribute of the final row that holds this row [the name of its table]", "^.+$"
        ),
        "optional": {
            "description": "true if a row of the driver needs none where a column of key has no"
            " value, or false",
            "type": "boolean",
        },
    },
    "table",
    "key",
)
_DELETED_WHEN: Final = _object(
    "an object with a column, and the values of it that delete a row",
    {
        "column": _text("the name of a column", "^.+$"),
        "values": _list_of("values as text", _text("a value", "^.+$")),
    },
    "column",
    "values",
)
_TABLE: Final = _object(
    "an object that describes a table",
    {
        "name": _NAME,
        "target_table_name": _text("the name of the table, like `name`", "^[A-Za-z0-9_.-]+$"),
        "topics": _list_of("topics, each in one table", _TOPIC),
        "topic_name": _TOPIC,
        "topic_pattern": _text("a regular expression for whole names of topics", "^.+$"),
        "columns": _list_of("the fields that become columns [all]", _FIELD),
        "column_names": _list_of("the fields that become columns, in lower case", _FIELD),
        "rename": {
            "description": "an object: for each renamed field the name of its column",
            "type": "object",
            "additionalProperties": _text("the name of a column", "^.+$"),
        },
        "lower_case": {
            "description": "true if names of columns are in lower case, or false",
            "type": "boolean",
        },
        "key": _FIELDS,
        "key_name": _text("the attribute of the partition key", "^.+$"),
        "key_format": _choice("avro, string, int or long", "avro", "string", "int", "long"),
        "sort": _FIELDS,
        "sort_name": _text("the attribute of the sort key", "^.+$"),
        "order": _FIELDS,
        "event_time": _text("the column with the event time", "^.+$"),
        "tombstone": _choice("ignore or delete", "ignore", "delete"),
        "deleted_when": _DELETED_WHEN,
        "sinks": _list_of("dynamodb, lake or both", _choice("a sink", "dynamodb", "lake")),
        "role": _choice("staging or driver", "staging", "driver"),
        "dependencies": _list_of("rows that each row of a driver needs", _DEPENDENCY),
        "final": _NAME,
    },
    "key",
) | {
    "allOf": [
        _one_of("name", "target_table_name"),
        *(_not_both(name, alias) for alias, name in TABLE_ALIASES.items()),
        _one_of("topics", "topic_name", "topic_pattern"),
    ]
}
FILE: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Configuration of a Penstock staging job",
    **_object(
        "an object with tables",
        {
            "registry": _text("the URL of the schema registry, or several with spaces", "^.+$"),
            "schema_registry_url": _text("the URL of a Confluent Schema Registry", "^.+$"),
            "kafka": _KAFKA,
            "kafka_bootstrap_servers": _SERVERS,
            "group_prefix": _text("the prefix of consumer groups", "^.+$"),
            "consumer_group_id": _text("the prefix of consumer groups", "^.+$"),
            "starting": _STARTING,
            "startingOffsets": _STARTING,
            "max_offsets_per_trigger": _count("the largest number of records of a batch, from 1"),
            "max_offsets_per_partition": _count(
                "the largest number of records of a batch for each partition, from 1"
            ),
            "tables": _list_of("a list of tables", _TABLE),
        },
        "tables",
    ),
    "allOf": [_not_both(name, alias) for alias, name in ALIASES.items()],
}
