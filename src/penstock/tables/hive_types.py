"""Types of columns as Glue and Hive write them: `struct<a:int,b:array<decimal(9,2)>>`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from penstock.tables.columns import Array, Column, ColumnType, Map, Struct

_WORD: Final = re.compile(r"[^<>,:]+?(?:\([^)]*\))?(?=[<>,:]|$)")
_ALIASES: Final = {"integer": "int", "long": "bigint"}


def parse_type(text: str) -> ColumnType:
    """Return a type from its text; a text that is not a type of Hive is a leaf of that name."""
    compact = re.sub(r"\s+", "", text)
    try:
        type_, rest = _parse(compact)
    except ValueError:
        return compact.lower()
    return compact.lower() if rest else type_


def lower_names(columns: Struct) -> Struct:
    """Return columns as Glue has them: with names in lower case, and one type of timestamp."""
    return Struct(
        tuple(
            replace(each, name=each.name.lower(), type=lower_type(each.type))
            for each in columns.columns
        )
    )


def lower_type(type_: ColumnType) -> ColumnType:
    """Return a type as Glue has it; see `lower_names`."""
    if isinstance(type_, Struct):
        return lower_names(type_)
    if isinstance(type_, Array):
        return Array(lower_type(type_.item))
    if isinstance(type_, Map):
        return Map(lower_type(type_.key), lower_type(type_.value))
    return "timestamp" if type_ == "timestamp_ntz" else type_


def _parse(text: str) -> tuple[ColumnType, str]:
    """Return the type at the start of a text, and the rest."""
    kind, rest = _split_word(text)
    kind = kind.lower()
    if not rest.startswith("<"):
        return _ALIASES.get(kind, kind), rest
    rest = rest[1:]
    if kind == "struct":
        return _parse_struct(rest)
    item, rest = _parse(rest)
    if kind == "array":
        return Array(item), _skip(rest, ">")
    if kind != "map":
        raise ValueError(kind)
    value, rest = _parse(_skip(rest, ","))
    return Map(item, value), _skip(rest, ">")


def _parse_struct(rest: str) -> tuple[Struct, str]:
    columns: list[Column] = []
    while not rest.startswith(">"):
        name, rest = _split_word(rest)
        type_, rest = _parse(_skip(rest, ":"))
        columns.append(Column(name, type_))
        rest = rest.removeprefix(",")
    return Struct(tuple(columns)), rest[1:]


def _split_word(text: str) -> tuple[str, str]:
    found = _WORD.match(text)
    if found is None:
        raise ValueError(text)
    return found[0], text[found.end() :]


def _skip(text: str, mark: str) -> str:
    if not text.startswith(mark):
        raise ValueError(text)
    return text[1:]
