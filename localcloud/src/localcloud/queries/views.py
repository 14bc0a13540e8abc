"""Views as Athena keeps them in the Glue catalog: a comment with Trino's description in base64."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_KIND = "VIRTUAL_VIEW"
_TEXT = re.compile(r"/\* Presto View: (\S+) \*/")


@dataclass(frozen=True, slots=True)
class View:
    """The text of a view, the database of its names, and its columns."""

    sql: str
    database: str
    columns: tuple[str, ...]


def is_view(table: dict[str, Any]) -> bool:
    """Return whether a table of the catalog is a view."""
    return table.get("TableType") == _KIND


def read_view(table: dict[str, Any]) -> View:
    """Read a view; raise ValueError if it is none of Trino's."""
    found = _TEXT.fullmatch(table.get("ViewOriginalText", "").strip())
    if found is None:
        raise ValueError("only views of Athena are supported")
    said = json.loads(base64.b64decode(found[1]))
    names = tuple(each["name"] for each in said["columns"])
    return View(said["originalSql"], said["schema"], names)


def describe_view(
    name: str, sql: str, database: str, columns: Iterable[tuple[str, str, str]]
) -> dict[str, Any]:
    """Return the catalog's table of a view; columns have a name, Trino's type, the catalog's."""
    columns = list(columns)
    said = {
        "originalSql": sql,
        "catalog": "awsdatacatalog",
        "schema": database,
        "columns": [{"name": name, "type": kind} for name, kind, _ in columns],
    }
    text = base64.b64encode(json.dumps(said).encode()).decode()
    return {
        "Name": name,
        "TableType": _KIND,
        "Parameters": {"comment": "Presto View", "presto_view": "true"},
        "StorageDescriptor": {
            "Columns": [{"Name": name, "Type": kind} for name, _, kind in columns],
            "Location": "",
            "SerdeInfo": {},
        },
        "PartitionKeys": [],
        "ViewOriginalText": f"/* Presto View: {text} */",
        "ViewExpandedText": "/* Presto View */",
    }
