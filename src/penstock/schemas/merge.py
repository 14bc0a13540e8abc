"""The merge of all versions of a schema into one reader schema."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.schemas._merging import merge_types, unify_names
from penstock.schemas._normal_form import to_schema
from penstock.schemas._types import resolve
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
    return to_schema(unify_names(merge_types(types, "")))
