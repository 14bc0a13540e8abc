"""The rules that merge several types into one: by kind, field by field, and by name.

Avro allows one definition for each name, so all definitions of a name are merged at the end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from penstock.errors import SchemaConflictError
from penstock.schemas._errors import show
from penstock.schemas._normal_form import to_schema
from penstock.schemas._types import LOGICAL, MAX_EXPANDED_TYPES, NUMBERS, AvroField, AvroType
from penstock.schemas.names import join_path

_NULL = AvroType("null")
_Mark = tuple[str, str]
_Identity = int | str | tuple["_Identity", ...]


def merge_types(types: Sequence[AvroType], path: str) -> AvroType:
    """Merge the types that the versions have at this path.

    Raises:
        SchemaConflictError: no type can hold the values of all of them unchanged.
    """
    # Most versions have the same type at a path; equal ones are looked at once.
    distinct = {_identify(type_): type_ for type_ in types}
    if len(distinct) == 1 and _is_merged(only := next(iter(distinct))):
        return distinct[only]
    groups = _families(list(distinct.values()), path)
    merged = [_merge_family(group, path) for group in groups if group[0].kind != "null"]
    merged.sort(key=lambda branch: (branch.kind, branch.name))
    if len(merged) < len(groups):
        merged.insert(0, _NULL)
    if len(merged) == 1 and not (_takes_no_bytes(merged[0]) and any(t.branches for t in types)):
        return merged[0]
    return AvroType("union", branches=tuple(merged))


def _identify(type_: AvroType) -> _Identity:
    """Return a value that only equal types have: the kinds of plain ones, the id of others."""
    if type_.branches:
        return tuple([_identify(branch) for branch in type_.branches])
    if type_.name or type_.item is not None or type_.attributes:
        return id(type_)
    return type_.kind


def _is_merged(identity: _Identity) -> bool:
    """Return whether the merge of such a type alone is the type: it is plain, or optional."""
    match identity:
        case str() | ("null", str()):
            return True
    return False


def _takes_no_bytes(type_: AvroType) -> bool:
    """Return whether a value takes no bytes; it may be an item only as the branch of a union."""
    return (
        type_.kind == "null"
        or (type_.kind == "fixed" and type_.size == 0)
        or (type_.kind == "record" and not type_.fields)
    )


def _merge_family(group: Sequence[AvroType], path: str) -> AvroType:
    first = group[0]
    for other in group[1:]:
        if other.logical != first.logical or other.size != first.size:
            raise _conflict(first, other, path)
    kind = _widest({each.kind for each in group})
    attributes = _shared([each.attributes for each in group])
    if AvroType(kind, attributes=attributes).logical != first.logical:  # parts of invalid ones
        attributes = {key: it for key, it in attributes.items() if key not in LOGICAL}
    if first.item is not None:
        inside = f"{path}{'[]' if kind == 'array' else '{}'}"
        items = [each.item for each in group if each.item is not None]
        return AvroType(kind, item=merge_types(items, inside), attributes=attributes)
    if not first.name:
        return AvroType(kind, attributes=attributes)
    name, aliases = _merge_names(group)
    symbols = tuple(dict.fromkeys(symbol for each in group for symbol in each.symbols))
    fields = _merge_fields(group, path) if kind == "record" else ()
    return AvroType(
        kind, name, aliases, fields, symbols=symbols, size=first.size, attributes=attributes
    )


def _widest(kinds: set[str]) -> str:
    """Return the smallest type that holds all kinds; a float and an integer widen to double."""
    if "float" in kinds and kinds & {"int", "long"}:
        return "double"
    return max(kinds, key=lambda kind: NUMBERS.index(kind) if kind in NUMBERS else 0)


def _merge_names(group: Sequence[AvroType]) -> tuple[str, tuple[str, ...]]:
    """Choose a name that is no version's alias; the other names become aliases, so all are read."""
    names = {each.name for each in group}
    aliases = {alias for each in group for alias in each.aliases}
    renamed = {alias.rpartition(".")[2] for alias in aliases}
    current = {each.name for each in group if each.short_name not in renamed} or names
    # In a namespace, an alias cannot be a name without one.
    plain = {name for name in names if "." not in name}
    chosen = min((current & plain) or plain or current)
    return chosen, tuple(sorted((names | aliases) - {chosen}))


def _merge_fields(records: Sequence[AvroType], path: str) -> tuple[AvroField, ...]:
    found: dict[str, list[AvroField]] = {}
    for record in records:
        for field in record.fields:
            found.setdefault(field.name, []).append(field)
    merged = [_merge_field(each, len(records), path) for each in found.values()]
    _check_json_names(merged, path)
    # Optional fields are sorted, so that their order does not depend on the order of the versions.
    required = [field for field in merged if not field.type.nullable]
    optional = [field for field in merged if field.type.nullable]
    return (*required, *sorted(optional, key=lambda field: field.name))


def _check_json_names(fields: Sequence[AvroField], path: str) -> None:
    names: dict[str, str] = {}
    for field in fields:
        other = names.setdefault(field.json_name, field.name)
        if other != field.name:
            raise SchemaConflictError(
                f"{path or 'the schema'}: {other} and {field.name} of two versions both stand for "
                f"the JSON name {show(field.json_name)}, expected one field",
                path=path,
            )


def _merge_field(fields: list[AvroField], records: int, path: str) -> AvroField:
    name = fields[0].name
    inside = join_path(path, fields[0].json_name)
    for other in fields[1:]:
        if other.json_name != fields[0].json_name:
            raise SchemaConflictError(
                f"{join_path(path, name)}: it stands for the JSON name {fields[0].json_name!r} in "
                f"one version and for {other.json_name!r} in another, expected one name",
                path=inside,
            )
    types = [field.type for field in fields]
    type_ = merge_types(types if len(fields) == records else [*types, _NULL], inside)
    # A reader fills a field that the writer does not have with the default. Any default but null
    # would invent a value.
    attributes = _shared([field.attributes for field in fields])
    attributes.pop("default", None)
    if type_.nullable or type_.kind == "null":
        attributes = {"default": None, **attributes}
    return AvroField(name, type_, attributes=attributes)


def _shared(attributes: Sequence[Any]) -> dict[str, Any]:
    """Return the attributes that are equal in all of them."""
    first, *others = attributes
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }


def unify_names(root: AvroType) -> AvroType:
    """Merge all definitions of each name until every name has one.

    Two fields can share a named type. If one of the fields is missing in the version that extends
    the type, a merge field by field leaves the name with two definitions, which Avro forbids.

    Raises:
        SchemaConflictError: two definitions contradict each other, a type contains itself, or the
            merge has too many types.
    """
    while True:
        types = _list_types(root)
        _check_circles(types)
        _check_expanded_size(types)
        shared: dict[str, AvroType] = {}
        for name, shapes in _definitions(types).items():
            if len(shapes) > 1:
                shared[name] = merge_types(list(shapes.values()), name)
        if not shared:
            return root
        root = _replace(root, shared, {})


def tells_apart(root: AvroType) -> bool:
    """Return whether a union has two named types that a version without it may hold as one."""
    for type_ in _list_types(root):
        marks = [mark for branch in type_.branches if branch.name for mark in _marks(branch)]
        if len(marks) != len(set(marks)):
            return True
    return False


def has_one_choice(root: AvroType) -> bool:
    """Return whether each type has one name, and each union one type besides null."""
    return not any(
        type_.aliases or sum(branch.kind != "null" for branch in type_.branches) > 1
        for type_ in _list_types(root)
    )


def _list_types(root: AvroType) -> list[AvroType]:
    """Return each type of a graph once, inner types before those that contain them."""
    found: dict[int, AvroType] = {}

    def visit(type_: AvroType) -> None:
        for child in type_.children():
            if id(child) not in found:
                visit(child)
        found[id(type_)] = type_

    visit(root)
    return list(found.values())


def _definitions(types: Sequence[AvroType]) -> dict[str, dict[str, AvroType]]:
    """Return the definitions, by their text, of each name that occurs more than once."""
    found: dict[str, list[AvroType]] = {}
    for type_ in types:
        if type_.name:
            found.setdefault(type_.name, []).append(type_)
    return {
        name: {json.dumps(to_schema(type_)): type_ for type_ in same}
        for name, same in found.items()
        if len(same) > 1
    }


def _check_circles(types: Sequence[AvroType]) -> None:
    """Raise SchemaConflictError if a name is inside itself once each name has one definition."""
    names: dict[int, set[str]] = {}  # directly inside each type
    inside: dict[str, set[str]] = {}
    for type_ in types:
        found: set[str] = set().union(
            *({each.name} if each.name else names[id(each)] for each in type_.children())
        )
        names[id(type_)] = found
        if type_.name:
            inside.setdefault(type_.name, set()).update(found)
    try:
        TopologicalSorter({name: sorted(inside[name]) for name in sorted(inside)}).prepare()
    except CycleError as error:
        name = error.args[1][0]
        raise SchemaConflictError(
            f"the type {name} would contain itself in the merge of the versions, "
            "expected types that do not",
            path=name,
        ) from error


def _check_expanded_size(types: Sequence[AvroType]) -> None:
    """Raise SchemaConflictError if the merge would have too many types without references.

    A chain of records that use each other by `a` and one that use each other by `b` become records
    that use each other twice, so their expanded size doubles with each record.
    """
    sizes: dict[int, int] = {}
    for type_ in types:
        sizes[id(type_)] = 1 + sum(sizes[id(child)] for child in type_.children())
        if sizes[id(type_)] > MAX_EXPANDED_TYPES:
            raise SchemaConflictError(
                "written out without references the merge of the versions has more than "
                f"{MAX_EXPANDED_TYPES:,} types",
                path=type_.name,
            )


def _replace(
    type_: AvroType, shared: dict[str, AvroType], replaced: dict[int, AvroType]
) -> AvroType:
    """Replace the types with shared names everywhere; each type is replaced once."""
    type_ = shared.get(type_.name, type_)
    if id(type_) not in replaced:
        replaced[id(type_)] = replace(
            type_,
            item=type_.item and _replace(type_.item, shared, replaced),
            branches=tuple(_replace(branch, shared, replaced) for branch in type_.branches),
            fields=tuple(
                replace(each, type=_replace(each.type, shared, replaced)) for each in type_.fields
            ),
        )
    return replaced[id(type_)]


@dataclass(slots=True, eq=False)
class _Family:
    """Branches that share a mark, directly or through other branches."""

    marks: set[_Mark]
    members: list[AvroType]


def _families(types: Sequence[AvroType], path: str) -> list[list[AvroType]]:
    """Group all branches of all types into families that can be merged.

    Branches that one version tells apart stay apart: full names decide then, without aliases.

    One reader can hold values of two families only as a union. That is allowed if some version
    is such a union. If no version holds all the families, two versions contradict each other.

    Raises:
        SchemaConflictError: no version holds all the families.
    """
    branches = {id(each): each for type_ in types for each in type_.branches or (type_,)}
    marks = {key: _marks(each) for key, each in branches.items()}
    owners = _group(branches, marks)
    if apart := _find_told_apart(types, owners):
        named = {key: {(each.kind, each.name)} for key, each in branches.items() if each.name}
        marks |= {key: mark for key, mark in named.items() if id(owners[key]) in apart}
        owners = _group(branches, marks)
    found = list({id(family): family for family in owners.values()}.values())
    if len(found) > 1:
        _check_contradiction(types, owners, path)
    return [family.members for family in found]


def _group(branches: dict[int, AvroType], marks: dict[int, set[_Mark]]) -> dict[int, _Family]:
    """Return the family of each branch; branches that a mark links are in one."""
    owners: dict[_Mark, _Family] = {}
    for key, branch in branches.items():
        _join(_Family(set(marks[key]), [branch]), owners)
    return {key: owners[next(iter(marks[key]))] for key in branches}


def _join(family: _Family, owners: dict[_Mark, _Family]) -> None:
    """Merge a family with the families that its marks link."""
    linked = {id(owners[mark]): owners[mark] for mark in family.marks if mark in owners}
    for other in linked.values():
        other.members.extend(family.members)
        other.marks.update(family.marks)
        family = other
    owners.update(dict.fromkeys(family.marks, family))


def _find_told_apart(types: Sequence[AvroType], owners: dict[int, _Family]) -> set[int]:
    """Return the families of which a union has two named types."""
    unions = [[id(owners[id(each)]) for each in type_.branches if each.name] for type_ in types]
    return {each for found in unions for each, count in Counter(found).items() if count > 1}


def _marks(branch: AvroType) -> set[_Mark]:
    """Return the marks of a branch; branches that share a mark belong together."""
    if branch.name:
        names = (branch.name, *branch.aliases)
        return {(branch.kind, name.rpartition(".")[2]) for name in names}
    return {("number" if branch.kind in NUMBERS else branch.kind, "")}


def _check_contradiction(types: Sequence[AvroType], owners: dict[int, _Family], path: str) -> None:
    """Raise SchemaConflictError if no version holds all the families; null is ignored."""
    speaking: list[tuple[AvroType, set[int]]] = []
    for type_ in types:
        branches = [branch for branch in type_.branches or (type_,) if branch.kind != "null"]
        held = {id(owners[id(branch)]) for branch in branches}
        if held:
            speaking.append((type_, held))
    everything = set().union(*(held for _, held in speaking))
    if speaking and all(held != everything for _, held in speaking):
        first, held = speaking[0]
        raise _conflict(first, next(type_ for type_, other in speaking if other - held), path)


def _conflict(one: AvroType, other: AvroType, path: str) -> SchemaConflictError:
    """Return the error for two versions that contradict each other at a path."""
    return SchemaConflictError(
        f"{path or 'the schema'}: {one.label()} in one version and {other.label()} in another, "
        "expected types that one can hold without changing a value",
        path=path,
    )
