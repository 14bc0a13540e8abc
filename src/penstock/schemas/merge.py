"""The schema that can hold what every version of a schema wrote."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.schemas._merging import merge_types
from penstock.schemas._types import resolve
from penstock.schemas._unify import unify_names
from penstock.schemas._writing import to_schema
from penstock.schemas.definition import Schema


def merge_schemas(versions: Iterable[Schema]) -> Schema:
    """Merge versions into the reader schema for all of them.

    Required fields come first, in the order of the first version; optional ones follow by name. A
    field that one version lacks becomes optional, numbers widen (int, long, double; float,
    double), enums take every symbol. Raises SchemaConflictError, with the path and both types,
    where no type can hold both without changing a value.
    """
    types = [resolve(version) for version in versions]
    if not types:
        raise ValueError("no versions to merge, expected at least one")
    return to_schema(unify_names(merge_types(types, "")))
