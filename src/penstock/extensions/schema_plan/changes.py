"""What a new version of a schema changes, by what it means for programs and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from penstock.schemas import Schema, canonical_form, find_decimal, join_path

_WIDER: Final = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
}
_NAMED: Final = frozenset({"record", "enum", "fixed"})
_ITEMS: Final = {"array": ("items", "[]"), "map": ("values", "{}")}
_STRUCTURE: Final = frozenset(
    {"aliases", "default", "fields", "items", "name", "namespace", "size", "symbols", "type"}
    | {"logicalType", "precision", "scale", "values"}
)
_SHOWN_CHARACTERS: Final = 60


class Kind(StrEnum):
    """The kinds of changes."""

    FIELD_ADDED = "field added"
    FIELD_REMOVED = "field removed"
    FIELD_RENAMED = "field renamed"
    FIELDS_MOVED = "order of fields changed"
    TYPE_WIDENED = "type widened"
    TYPE_NARROWED = "type narrowed"
    TYPE_CHANGED = "type changed"
    TYPE_ADDED = "type added to a union"
    TYPE_REMOVED = "type removed from a union"
    TYPE_RENAMED = "type renamed"
    MADE_OPTIONAL = "made optional"
    MADE_REQUIRED = "made required"
    DEFAULT_CHANGED = "default changed"
    SYMBOLS_ADDED = "symbols added"
    SYMBOLS_REMOVED = "symbols removed"
    ALIASES_CHANGED = "aliases changed"
    ATTRIBUTES_CHANGED = "attributes changed"


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a change is defined in a file: a type, and one of its fields or none."""

    record: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change by its path in JSON; `before` or `after` is empty if there is nothing."""

    kind: Kind
    path: str
    before: str
    after: str
    owner: Owner


def list_changes(before: Schema, after: Schema) -> tuple[Change, ...]:
    """Return the changes from one schema to another, in the order of the fields."""
    found = _Comparison(before, after).compare_schemas()
    return tuple(
        replace(each, before=_shorten(each.before), after=_shorten(each.after)) for each in found
    )


def list_owners(schema: Schema) -> dict[str, Owner]:
    """Return where each field of a schema is defined, by its path in JSON."""
    found: dict[str, Owner] = {}
    graph = _Graph(schema)

    def visit(node: Any, path: str) -> None:
        node = graph.find(node)
        if isinstance(node, list):
            for branch in node:
                visit(branch, path)
        elif isinstance(node, dict) and node["type"] in _ITEMS:
            key, mark = _ITEMS[node["type"]]
            visit(node[key], f"{path}{mark}")
        elif isinstance(node, dict) and node["type"] == "record":
            for field in node["fields"]:
                inside = _join(path, field)
                found.setdefault(inside, Owner(node["name"], field["name"]))
                visit(field["type"], inside)

    visit(graph.root, "")
    return found


class _Graph:
    """A schema in normal form, with its named types."""

    def __init__(self, schema: Schema) -> None:
        self.root: Any = json.loads(canonical_form(schema))
        self._named: dict[str, Any] = {}
        self._add_names(self.root)

    def find(self, node: Any) -> Any:
        """Return the definition of a type, which may be the name of one."""
        return self._named.get(node, node) if isinstance(node, str) else node

    def _add_names(self, node: Any) -> None:
        if isinstance(node, list):
            for branch in node:
                self._add_names(branch)
        elif isinstance(node, dict):
            if node["type"] in _NAMED:
                self._named[node["name"]] = node
            for field in node.get("fields", ()):
                self._add_names(field["type"])
            for key, _ in _ITEMS.values():
                self._add_names(node.get(key))

    def describe(self, node: Any) -> str:
        """Return a type in a few words."""
        node = self.find(node)
        if isinstance(node, list):
            words = [self.describe(each) for each in node if each != "null"]
            text = " or ".join(words) + (" (optional)" if "null" in node else "")
        elif isinstance(node, str):
            text = node
        elif node["type"] in _ITEMS:
            text = f"{node['type']} of {self.describe(node[_ITEMS[node['type']][0]])}"
        else:
            text = _describe_plain(node)
        return text


def _describe_plain(node: dict[str, Any]) -> str:
    if decimal := find_decimal(node, node.get("size")):
        return f"decimal({decimal[0]}, {decimal[1]})"
    if logical := node.get("logicalType"):
        return str(logical)
    size = f"({node['size']})" if "size" in node else ""
    name = f" {node['name'].rpartition('.')[2]}{size}" if "name" in node else ""
    return f"{node['type']}{name}"


class _Comparison:
    """One comparison; a pair of named types is compared once, where it is first used."""

    def __init__(self, before: Schema, after: Schema) -> None:
        self._before, self._after = _Graph(before), _Graph(after)
        self._seen: set[tuple[str, str]] = set()

    def compare_schemas(self) -> Iterator[Change]:
        yield from self._compare(self._before.root, self._after.root, "", Owner())

    def _compare(self, old: Any, new: Any, path: str, owner: Owner) -> Iterator[Change]:
        old, new = self._before.find(old), self._after.find(new)
        if isinstance(old, list) or isinstance(new, list):
            yield from self._compare_unions(_branches(old), _branches(new), path, owner)
        elif _kind(old) != _kind(new) or _logical(old) != _logical(new):
            yield self._change_type(old, new, path, owner)
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from self._compare_parts(old, new, path, owner)
        elif old != new:  # one is written as an object, for its attributes
            yield Change(Kind.ATTRIBUTES_CHANGED, path, _rest(old), _rest(new), owner)

    def _compare_unions(
        self, old: list[Any], new: list[Any], path: str, owner: Owner
    ) -> Iterator[Change]:
        if ("null" in old) != ("null" in new):
            kind = Kind.MADE_OPTIONAL if "null" in new else Kind.MADE_REQUIRED
            before, after = self._before.describe(old), self._after.describe(new)
            yield Change(kind, path, before, after, owner)
        was = [each for each in old if each != "null"]
        now = [each for each in new if each != "null"]
        if len(was) == 1 == len(now):
            yield from self._compare(was[0], now[0], path, owner)
            return
        pairs = self._match(was, now)
        for at, each in enumerate(was):
            if at in pairs:
                yield from self._compare(each, now[pairs[at]], path, owner)
            else:
                yield Change(Kind.TYPE_REMOVED, path, self._before.describe(each), "", owner)
        for at, each in enumerate(now):
            if at not in pairs.values():
                yield Change(Kind.TYPE_ADDED, path, "", self._after.describe(each), owner)

    def _match(self, was: Sequence[Any], now: Sequence[Any]) -> dict[int, int]:
        """Return the positions of the branches that are the same type, old to new."""
        names = {_branch_name(self._after.find(each)): at for at, each in enumerate(now)}
        found = ((at, _branch_name(self._before.find(each))) for at, each in enumerate(was))
        return {at: names[name] for at, name in found if name in names}

    def _change_type(self, old: Any, new: Any, path: str, owner: Owner) -> Change:
        kind = Kind.TYPE_CHANGED
        if not _logical(old) and not _logical(new):
            if _kind(new) in _WIDER.get(_kind(old), ()):
                kind = Kind.TYPE_WIDENED
            elif _kind(old) in _WIDER.get(_kind(new), ()):
                kind = Kind.TYPE_NARROWED
        return Change(kind, path, self._before.describe(old), self._after.describe(new), owner)

    def _compare_parts(
        self, old: dict[str, Any], new: dict[str, Any], path: str, owner: Owner
    ) -> Iterator[Change]:
        kind = new["type"]
        if kind in _ITEMS:
            key, mark = _ITEMS[kind]
            yield from self._compare(old[key], new[key], f"{path}{mark}", owner)
        elif kind in _NAMED:
            pair = old["name"], new["name"]
            if pair in self._seen:
                return
            self._seen.add(pair)
            owner = Owner(new["name"])
            if pair[0] != pair[1]:
                yield Change(Kind.TYPE_RENAMED, path, *pair, owner)
            if old.get("size") != new.get("size"):
                yield self._change_type(old, new, path, owner)
            if kind == "record":
                yield from self._compare_fields(old, new, path)
            elif kind == "enum":
                yield from _compare_symbols(old, new, path, owner)
            yield from _compare_aliases(old, new, path, owner)
        if _rest(old) != _rest(new):
            yield Change(Kind.ATTRIBUTES_CHANGED, path, _rest(old), _rest(new), owner)

    def _compare_fields(
        self, old: dict[str, Any], new: dict[str, Any], path: str
    ) -> Iterator[Change]:
        was, now = ({each["name"]: each for each in record["fields"]} for record in (old, new))
        sources = {name: _find_source(field, was, now) for name, field in now.items()}
        kept = [name for name in sources.values() if name]
        for name, field in was.items():
            if name not in kept:
                owner, type_ = Owner(new["name"]), self._before.describe(field["type"])
                yield Change(Kind.FIELD_REMOVED, _join(path, field), type_, "", owner)
        for name, field in now.items():
            owner, inside = Owner(new["name"], name), _join(path, field)
            source = sources[name]
            if not source:
                words = filter(None, [self._after.describe(field["type"]), _default(field)])
                yield Change(Kind.FIELD_ADDED, inside, "", ", ".join(words), owner)
                continue
            if source != name:
                yield Change(Kind.FIELD_RENAMED, inside, source, name, owner)
            yield from self._compare_field(was[source], field, inside, owner)
        common = [name for name in was if name in kept]
        if common != [name for name in sources.values() if name]:
            shown = ", ".join(common), ", ".join(kept)
            places = path or "the schema"
            yield Change(Kind.FIELDS_MOVED, places, *shown, Owner(new["name"]))

    def _compare_field(
        self, old: dict[str, Any], new: dict[str, Any], path: str, owner: Owner
    ) -> Iterator[Change]:
        yield from self._compare(old["type"], new["type"], path, owner)
        if _default(old) != _default(new):
            yield _change_default(old, new, path, owner)
        yield from _compare_aliases(old, new, path, owner)
        if _rest(old) != _rest(new):
            yield Change(Kind.ATTRIBUTES_CHANGED, path, _rest(old), _rest(new), owner)


def _find_source(field: dict[str, Any], was: dict[str, Any], now: dict[str, Any]) -> str:
    """Return the name that a field had before; empty if it is new."""
    name: str = field["name"]
    gone = [alias for alias in field.get("aliases", ()) if alias in was and alias not in now]
    return name if name in was else next(iter(gone), "")


def _compare_symbols(
    old: dict[str, Any], new: dict[str, Any], path: str, owner: Owner
) -> Iterator[Change]:
    added = [each for each in new["symbols"] if each not in old["symbols"]]
    removed = [each for each in old["symbols"] if each not in new["symbols"]]
    if removed:
        yield Change(Kind.SYMBOLS_REMOVED, path, ", ".join(removed), "", owner)
    if added:
        yield Change(Kind.SYMBOLS_ADDED, path, "", ", ".join(added), owner)
    if _default(old) != _default(new):
        yield _change_default(old, new, path, owner)


def _change_default(old: dict[str, Any], new: dict[str, Any], path: str, owner: Owner) -> Change:
    before, after = (_default(each) or "no default" for each in (old, new))
    return Change(Kind.DEFAULT_CHANGED, path, before, after, owner)


def _compare_aliases(
    old: dict[str, Any], new: dict[str, Any], path: str, owner: Owner
) -> Iterator[Change]:
    was, now = (", ".join(each.get("aliases", ())) for each in (old, new))
    if was != now:
        yield Change(Kind.ALIASES_CHANGED, path, was, now, owner)


def _branches(node: Any) -> list[Any]:
    return node if isinstance(node, list) else [node]


def _branch_name(node: Any) -> str:
    """Return what tells the branches of a union apart."""
    return str(node["name"]) if isinstance(node, dict) and "name" in node else _kind(node)


def _kind(node: Any) -> str:
    return str(node["type"] if isinstance(node, dict) else node)


def _logical(node: Any) -> tuple[Any, ...]:
    if not isinstance(node, dict) or "logicalType" not in node:
        return ()
    scale = 0 if node["logicalType"] == "decimal" else None  # as Avro says
    return node["logicalType"], node.get("precision"), node.get("scale", scale)


def _default(node: dict[str, Any]) -> str:
    return f"default {json.dumps(node['default'], ensure_ascii=False)}" if "default" in node else ""


def _rest(node: Any) -> str:
    """Return the attributes of a type or field that mean nothing to Avro, as text."""
    described = node if isinstance(node, dict) else {}
    rest = {key: described[key] for key in sorted(described) if key not in _STRUCTURE}
    return json.dumps(rest, ensure_ascii=False) if rest else ""


def _join(path: str, field: dict[str, Any]) -> str:
    """Return the path of a field, with its name in JSON, as other messages have it."""
    return join_path(path, str(field.get("jsonName", field["name"])))


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
