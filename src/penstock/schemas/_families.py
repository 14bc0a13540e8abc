"""Which branches of several types are the same kind of thing, and may be merged into one."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import SchemaConflictError
from penstock.schemas._types import NUMBERS, AvroType


def families(types: Sequence[AvroType], path: str) -> list[list[AvroType]]:
    """Group all branches of all types by what can be merged.

    Values of two families fit one reader only as a union. That is right where a version says so
    itself; where no version holds all the families, two versions contradict each other.
    """
    groups: list[tuple[set[tuple[str, str]], list[AvroType]]] = []
    for branch in (branch for type_ in types for branch in type_.branches or (type_,)):
        keys, members = _keys(branch), [branch]
        for group in [group for group in groups if group[0] & keys]:
            groups.remove(group)
            keys, members = group[0] | keys, group[1] + members
        groups.append((keys, members))
    _check_contradiction(types, [keys for keys, _ in groups if ("null", "") not in keys], path)
    return [members for _, members in groups]


def _keys(branch: AvroType) -> set[tuple[str, str]]:
    """Give the marks of a branch; those that share one belong together."""
    if branch.name:
        names = (branch.name, *branch.aliases)
        return {(branch.kind, name.rpartition(".")[2]) for name in names}
    return {("number" if branch.kind in NUMBERS else branch.kind, "")}


def _check_contradiction(
    types: Sequence[AvroType], found: Sequence[set[tuple[str, str]]], path: str
) -> None:
    held = [{i for i, keys in enumerate(found) if _holds(type_, keys)} for type_ in types]
    speaking = [(type_, own) for type_, own in zip(types, held, strict=True) if own]
    if len(found) > 1 and not any(len(own) == len(found) for _, own in speaking):
        first, own = speaking[0]
        raise conflict(first, next(type_ for type_, other in speaking if other - own), path)


def _holds(type_: AvroType, keys: set[tuple[str, str]]) -> bool:
    return any(_keys(branch) & keys for branch in type_.branches or (type_,))


def conflict(one: AvroType, other: AvroType, path: str) -> SchemaConflictError:
    """Say that two versions contradict each other at a path."""
    return SchemaConflictError(
        f"{path or 'the schema'}: {one.label()} in one version and {other.label()} in another, "
        "expected types that one can hold without changing a value",
        path=path,
    )
