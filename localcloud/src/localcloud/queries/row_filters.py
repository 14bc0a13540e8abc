"""The rows and columns of a table that Lake Formation's grants let a caller see.

Lake Formation Developer Guide, "PartiQL support in row filter expressions": comparisons, AND, OR,
NOT, BETWEEN, IN, LIKE and IS NULL over columns and constants.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

_KINDS = frozenset(
    {"BETWEEN", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "OPERATOR"}
)
_LIKE = frozenset({"~~", "!~~", "like_escape", "not_like_escape"})
# A condition is somebody's text: it must not reach the files of this machine.
_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def check_condition(text: str, columns: Iterable[str]) -> None:
    """Check the condition of a data filter on a table that has these columns.

    Raises:
        ValueError: it is invalid, or not of what a condition may have.
    """
    sql = f"SELECT 1 FROM t WHERE {_enclose(text)}"  # noqa: S608 - only parsed
    with duckdb.connect() as connection:
        asked = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    tree = json.loads(asked[0]) if asked else {}
    if tree.get("error") or len(tree["statements"]) != 1:
        raise ValueError(f"Invalid filter expression {text}")
    node = tree["statements"][0]["node"]
    known = {each.lower() for each in columns}
    for each in _walk(node.get("where_clause") or {}):
        kind = each.get("class")
        if kind == "COLUMN_REF" and each["column_names"][-1].lower() not in known:
            raise ValueError(f"Column {each['column_names'][-1]} of the filter does not exist")
        if kind is not None and kind not in _KINDS and each.get("function_name") not in _LIKE:
            raise ValueError(f"A filter expression has no {kind.lower()}; found {text}")


def select_rows(rows: pa.Table, columns: frozenset[str] | None, condition: str | None) -> pa.Table:
    """Return the rows that a condition holds for, with these columns; None is all of them."""
    if condition is not None:
        with duckdb.connect(config={"python_enable_replacements": "false"}) as connection:
            connection.register("rows", rows)
            for setting in _SETTINGS:
                connection.execute(setting)
            sql = f"SELECT * FROM rows WHERE {_enclose(condition)}"  # noqa: S608 - checked
            rows = connection.sql(sql).to_arrow_table().cast(rows.schema)
    if columns is None:
        return rows
    wanted = {each.lower() for each in columns}
    return rows.select([name for name in rows.column_names if name.lower() in wanted])


def _enclose(condition: str) -> str:
    """Return a condition in parentheses, so that nothing but a condition is valid."""
    return f"({condition}\n)"


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict | list):
            yield from _walk(inner)
