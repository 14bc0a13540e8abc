"""The names of types in Avro definitions: which a file defines and uses, and their lines.

Two walks over the same structure: over plain JSON, which is fast, and over JSON with the offset of
each value, which is needed for files that a message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final

_PRIMITIVES: Final = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)
_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})
_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


@dataclass(frozen=True, slots=True)
class Located:
    """A value of JSON, whose members are located too, and the offset at which it begins."""

    value: Any
    offset: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a definition: a type (`field` is empty) or a field of it, or a use of a name.

    `names` are the full names that are meant: of a use, the one in its namespace first.
    """

    names: tuple[str, ...]
    field: str
    is_use: bool
    offset: int


def list_mentions(tree: Any, space: str = "") -> Iterator[Mention]:
    """Yield the types, fields and uses of names in a definition, which may be located."""
    value, offset = (tree.value, tree.offset) if isinstance(tree, Located) else (tree, 0)
    if isinstance(value, str):
        if value not in _PRIMITIVES:
            yield Mention(_possible(value, space), "", True, offset)
    elif isinstance(value, list):
        for each in value:
            yield from list_mentions(each, space)
    elif isinstance(value, dict):
        yield from _list_members(value, offset, space)


def _list_members(value: dict[str, Any], offset: int, space: str) -> Iterator[Mention]:
    kind, name = _plain(value.get("type")), _plain(value.get("name"))
    if kind in _NAMED:
        if not isinstance(name, str):
            return  # it is no schema, which its reader says
        own = _plain(value.get("namespace", space))
        full = name if "." in name or not own else f"{own}.{name}"
        yield Mention((full,), "", False, offset)
        fields = _plain(value.get("fields"))
        for field in fields if isinstance(fields, list) else ():
            yield from _list_field(field, full)
    elif kind in {"array", "map"}:
        yield from list_mentions(value.get("items" if kind == "array" else "values"), space)
    elif "type" in value:
        yield from list_mentions(value["type"], space)


def _list_field(field: Any, record: str) -> Iterator[Mention]:
    described = _plain(field)
    if isinstance(described, dict):
        offset = field.offset if isinstance(field, Located) else 0
        yield Mention((record,), str(_plain(described.get("name"))), False, offset)
        yield from list_mentions(described.get("type"), record.rpartition(".")[0])


def _possible(name: str, space: str) -> tuple[str, ...]:
    """Return the full names that a name may stand for, as Avro looks for them."""
    return (name,) if "." in name or not space else (f"{space}.{name}", name)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Located) else value


def find_lines(text: str) -> dict[tuple[str, str], int]:
    """Return the lines of a definition's types (by name), fields, and uses (by "" and name)."""
    lines: dict[tuple[str, str], int] = {}
    for each in list_mentions(_locate(text, 0)[0]):
        line = text.count("\n", 0, each.offset) + 1
        keys = [("", name) for name in each.names] if each.is_use else [(each.names[0], each.field)]
        for key in keys:
            lines.setdefault(key, line)
    return lines


def _locate(text: str, at: int) -> tuple[Located, int]:
    """Return the value of valid JSON at an offset, and the offset of its end."""
    at = _skip(text, at)
    match text[at]:
        case "{":
            members: dict[str, Located] = {}
            end = _skip(text, at + 1)
            while text[end] != "}":
                key, end = scanstring(text, _skip(text, end) + 1)
                members[key], end = _locate(text, _skip(text, end) + 1)
                end = _skip_comma(text, end)
            return Located(members, at), end + 1
        case "[":
            items: list[Located] = []
            end = _skip(text, at + 1)
            while text[end] != "]":
                item, end = _locate(text, end)
                items.append(item)
                end = _skip_comma(text, end)
            return Located(items, at), end + 1
        case '"':
            value, end = scanstring(text, at + 1)
            return Located(value, at), end
    found = _SCALAR.match(text, at)
    return Located(None, at), found.end() if found else at + 1


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _skip_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
