"""The grouping of union branches into families, each of which merges into one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.errors import SchemaConflictError
from penstock.schemas._types import NUMBERS, AvroType

_Mark = tuple[str, str]


@dataclass(slots=True, eq=False)
class _Family:
    """Branches that share a mark, directly or through other branches."""

    marks: set[_Mark]
    members: list[AvroType]


def families(types: Sequence[AvroType], path: str) -> list[list[AvroType]]:
    """Group all branches of all types into families that can be merged.

    One reader can hold values of two families only as a union. That is allowed if some version
    is such a union. If no version holds all the families, two versions contradict each other.

    Raises:
        SchemaConflictError: no version holds all the families.
    """
    owners: dict[_Mark, _Family] = {}
    for type_ in types:
        for branch in type_.branches or (type_,):
            _join(branch, owners)
    found = list({id(family): family for family in owners.values()}.values())
    if len(found) > 1:
        _check_contradiction(types, owners, path)
    return [family.members for family in found]


def _join(branch: AvroType, owners: dict[_Mark, _Family]) -> None:
    """Add the branch to the family of its marks; merge the families that the marks link."""
    family = _Family(_marks(branch), [branch])
    linked = {id(owners[mark]): owners[mark] for mark in family.marks if mark in owners}
    for other in linked.values():
        other.members.extend(family.members)
        other.marks.update(family.marks)
        family = other
    owners.update(dict.fromkeys(family.marks, family))


def _marks(branch: AvroType) -> set[_Mark]:
    """Return the marks of a branch; branches that share a mark belong together."""
    if branch.name:
        names = (branch.name, *branch.aliases)
        return {(branch.kind, name.rpartition(".")[2]) for name in names}
    return {("number" if branch.kind in NUMBERS else branch.kind, "")}


def _check_contradiction(
    types: Sequence[AvroType], owners: dict[_Mark, _Family], path: str
) -> None:
    """Raise SchemaConflictError if no version holds all the families; null is ignored."""
    speaking: list[tuple[AvroType, set[int]]] = []
    for type_ in types:
        branches = [branch for branch in type_.branches or (type_,) if branch.kind != "null"]
        held = {id(owners[mark]) for branch in branches for mark in _marks(branch)}
        if held:
            speaking.append((type_, held))
    everything = set().union(*(held for _, held in speaking))
    if speaking and all(held != everything for _, held in speaking):
        first, held = speaking[0]
        raise conflict(first, next(type_ for type_, other in speaking if other - held), path)


def conflict(one: AvroType, other: AvroType, path: str) -> SchemaConflictError:
    """Return the error for two versions that contradict each other at a path."""
    return SchemaConflictError(
        f"{path or 'the schema'}: {one.label()} in one version and {other.label()} in another, "
        "expected types that one can hold without changing a value",
        path=path,
    )
