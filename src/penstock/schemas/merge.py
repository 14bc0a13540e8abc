"""The merge of all versions of a schema into one reader schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.errors import SchemaConflictError
from penstock.schemas._merging import has_one_choice, merge_types, tells_apart, unify_names
from penstock.schemas._normal_form import to_schema
from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema


def merge_schemas(versions: Iterable[Schema]) -> Schema:
    """Merge versions into one reader schema for all of them.

    Required fields come first, in the order of the first version; optional fields follow by name.
    A field that is missing in some version becomes optional. Numbers widen (int, long, double;
    float, double), and enums take every symbol.

    Raises:
        SchemaConflictError: no type can hold the values of two versions without changing one; the
            message names the path and both types.
    """
    types = [resolve(version) for version in versions]
    if not types:
        raise ValueError("no versions to merge, expected at least one")
    return to_schema(unify_names(merge_types(_name_flattened(types), "")))


def extend_merge(merged: Sequence[Schema], versions: Iterable[Schema], new: Schema) -> Schema:
    """Merge a new version with the merge of those before it; `merged` is empty if there are none.

    That is the merge of all at once, unless a union tells types apart that other versions have
    under two names: then all of them must merge at once too, so `versions` are merged again.

    Raises:
        SchemaConflictError: see `merge_schemas`.
    """
    extended = merge_schemas([*merged, new])
    if merged and tells_apart(resolve(extended)):
        merge_schemas([*versions, new])
    return extended


def extend_at_once(merged: Sequence[Schema], new: Sequence[Schema]) -> Schema | None:
    """Merge new versions with the merge of those before them, if any order of them has this merge.

    Else it returns None: one contradicts another, or may contradict another until a later one comes
    that has both types in a union, or both names.
    """
    types = [resolve(version) for version in merged]
    if not all(map(has_one_choice, types)):
        return None
    types += map(resolve, new)
    try:
        root = unify_names(merge_types(types, ""))
    except SchemaConflictError:
        return None
    return to_schema(root) if has_one_choice(root) else None


def _name_flattened(types: Sequence[AvroType]) -> list[AvroType]:
    """Name the flattened records of Debezium as their envelope, so that one record holds both.

    An envelope is `TOPIC.Envelope`; a flattened record is `TOPIC.Value`, the row inside of it.
    """
    envelopes = {
        row.name: each.name
        for each in types
        if each.short_name == "Envelope"
        for field in each.fields
        if field.name == "after"
        for row in field.type.branches
        if row.kind == "record"
    }
    return [
        replace(each, name=envelopes[each.name]) if each.name in envelopes else each
        for each in types
    ]
