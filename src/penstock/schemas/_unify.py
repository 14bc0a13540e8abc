"""The merge of all definitions of one name, since Avro allows one definition for each name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from penstock.errors import SchemaConflictError
from penstock.schemas._merging import merge_types
from penstock.schemas._types import AvroType
from penstock.schemas._writing import to_schema


def unify_names(root: AvroType) -> AvroType:
    """Merge all definitions of each name until every name has one.

    Two fields can share a named type. If one of the fields is missing in the version that extends
    the type, a merge field by field leaves the name with two definitions, which Avro forbids.

    Raises:
        SchemaConflictError: two definitions contradict each other, or a type contains itself.
    """
    while True:
        shared: dict[str, AvroType] = {}
        for name, shapes in _definitions(root).items():
            if len(shapes) > 1:
                shared[name] = merge_types(list(shapes.values()), name)
        if not shared:
            return root
        root = _replace(root, shared)


def _definitions(root: AvroType) -> dict[str, dict[str, AvroType]]:
    """Return the definitions, by their text, of each name that occurs more than once."""
    found: dict[str, list[AvroType]] = {}
    for type_ in _named(root, ()):
        found.setdefault(type_.name, []).append(type_)
    return {
        name: {json.dumps(to_schema(type_)): type_ for type_ in types}
        for name, types in found.items()
        if len(types) > 1
    }


def _named(type_: AvroType, around: tuple[str, ...]) -> Iterator[AvroType]:
    if type_.name in around:
        raise SchemaConflictError(
            f"the type {type_.name} would contain itself in the merge of the versions, "
            "expected types that do not",
            path=type_.name,
        )
    if type_.name:
        yield type_
        around = (*around, type_.name)
    for child in type_.children():
        yield from _named(child, around)


def _replace(type_: AvroType, shared: dict[str, AvroType]) -> AvroType:
    type_ = shared.get(type_.name, type_)
    return replace(
        type_,
        item=type_.item and _replace(type_.item, shared),
        branches=tuple(_replace(branch, shared) for branch in type_.branches),
        fields=tuple(replace(each, type=_replace(each.type, shared)) for each in type_.fields),
    )
