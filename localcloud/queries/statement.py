"""A statement before any table is read: its kind, its tables, its columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

_QUERIES = ("select", "with", "values", "(")
_OTHERS = frozenset(
    """alter analyze create deallocate delete describe drop execute explain grant insert merge msck
    optimize prepare revoke show truncate unload update use vacuum""".split()
)
_COMMENT = re.compile(r"\s*(--[^\n]*(\n|$)|/\*.*?\*/)", re.DOTALL)


class StatementError(ValueError):
    """A statement that is refused before it runs."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as a statement names it, with its place in the text."""

    database: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Statement:
    """The tables of a query, and whether its columns are unnamed, as far as known."""

    tables: tuple[TableName, ...]
    unnamed_before_star: tuple[bool, ...]
    unnamed_after_star: tuple[bool, ...]


def read_statement(sql: str, database: str) -> Statement:
    """Parse a query; names without a database belong to the given one.

    Raises:
        StatementError: it is not a query, more than one, or not valid SQL.
    """
    text = sql
    while match := _COMMENT.match(text):
        text = text[match.end() :]
    word = re.match(r"\s*(\(|\w*)", text)
    first = word[1].lower() if word else ""
    if first in _OTHERS:
        raise StatementError(
            f"Queries of this type are not supported: {first.upper()}; localcloud answers SELECT, "
            "WITH and VALUES"
        )
    with duckdb.connect() as connection:
        asked = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    tree = json.loads(asked[0]) if asked else {}
    if tree.get("error") or first not in _QUERIES:
        place = locate(sql, int(tree.get("position") or 0))
        raise StatementError(f"{place}: {tree.get('error_message', f'unexpected {first}')}")
    if len(tree["statements"]) != 1:
        raise StatementError(f"Only one sql statement is allowed. Got: {sql}")
    node = tree["statements"][0]["node"]
    return Statement(tuple(_find_tables(node, sql, database)), *_find_unnamed(node))


def locate(sql: str, position: int) -> str:
    """Return a position as line and column."""
    before = sql[: min(position, len(sql))]
    return f"line {before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _find_tables(node: dict[str, Any], sql: str, database: str) -> Iterator[TableName]:
    nodes = list(_walk(node))
    within = {
        entry["key"].lower() for each in nodes for entry in each.get("cte_map", {}).get("map", [])
    }
    for each in nodes:
        if each.get("type") != "BASE_TABLE":
            continue
        schema, name = each["schema_name"], each["table_name"]
        if schema or name.lower() not in within:
            place = locate(sql, each["query_location"])
            yield TableName((schema or database).lower(), name.lower(), place)


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict | list):
            yield from _walk(inner)


def _find_unnamed(node: dict[str, Any]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Return which expressions have no name, before the first `*` and after the last."""
    while "left" in node and "select_list" not in node:  # UNION: the first query names the columns
        node = node["left"]
    listed = node.get("select_list", [])
    unnamed = [not each["alias"] and each["class"] != "COLUMN_REF" for each in listed]
    stars = [at for at, each in enumerate(listed) if each["class"] == "STAR"]
    if not stars:
        return tuple(unnamed), ()
    return tuple(unnamed[: stars[0]]), tuple(unnamed[stars[-1] + 1 :])
