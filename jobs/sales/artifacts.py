"""The six Avro artifacts of the sales topics in Apicurio Registry.

| artifact           | the schema of                                   |
| ------------------ | ----------------------------------------------- |
| PREFIX.csv         | the CSV files of sales                          |
| PREFIX.regions.csv | the CSV file of regions                         |
| TOPIC-key          | the keys of a topic, which are ints             |
| TOPIC-value        | its values: a sale, or the total of a region    |

The topics are PREFIX.avro and PREFIX.summary.avro. All times are seconds since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from penstock.registry import ApicurioAdmin, SchemaBackup
from penstock.schemas import Compatibility, Schema

PREFIX: Final = "pagila.sales"
SALES: Final = ".avro"
SUMMARY: Final = ".summary.avro"


def register_artifacts(admin: ApicurioAdmin, prefix: str = PREFIX) -> Iterator[dict[str, Any]]:
    """Delete each artifact, create it again with the rule BACKWARD, and yield its new state.

    Raises:
        RegistryError: the registry cannot be used.
    """
    for name, definition in list_artifacts(prefix).items():
        was_there = admin.delete_schema(name)
        new = SchemaBackup(name, Compatibility.BACKWARD, 0, "AVRO", "", {}, ())
        admin.create_schema(new, json.dumps(definition))
        found = admin.read_schema(name)
        (version,) = found.versions
        yield {
            "artifact": name,
            "deleted": was_there,
            "created": {"id": version.id, "version": version.number, "rule": found.compatibility},
            "read": json.loads(version.definition),
        }


def list_artifacts(prefix: str = PREFIX) -> dict[str, Schema]:
    """Return the definition of each artifact by its name."""
    sale = [("payment_id", "int"), ("customer_id", "int"), ("amount", "float")]
    place = [("city", ["string", "null"]), ("district", ["string", "null"]), ("country", "string")]
    total = [("region", "string"), ("sales", "float"), ("orders", "int")]
    edges = [("window_start", "long"), ("window_end", "long")]
    return {
        f"{prefix}.csv": _record("Sales", [*sale, ("payment_date", "string"), *place]),
        f"{prefix}.regions.csv": _record("Regions", [("country", "string"), ("region", "string")]),
        f"{prefix}{SALES}-key": {"type": "int"},
        f"{prefix}{SALES}-value": _record("Value", [*sale, ("payment_date", "long"), *place]),
        f"{prefix}{SUMMARY}-key": {"type": "int"},
        f"{prefix}{SUMMARY}-value": _record("Value", [*total, *edges]),
    }


def _record(name: str, fields: list[tuple[str, Any]]) -> Schema:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": each, "type": type_} for each, type_ in fields],
    }
