"""Which branches of several types are the same kind of thing, and may be merged into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.errors import SchemaConflictError
from penstock.schemas._types import NUMBERS, AvroType

_Mark = tuple[str, str]


@dataclass(slots=True, eq=False)
class _Family:
    """Branches that share a mark with each other, directly or through others."""

    marks: set[_Mark]
    members: list[AvroType]


def families(types: Sequence[AvroType], path: str) -> list[list[AvroType]]:
    """Group all branches of all types by what can be merged.

    Values of two families fit one reader only as a union. That is right where a version says so
    itself; where no version holds all the families, two versions contradict each other.
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
    """Put the branch into the family of its marks, making one of all that they link."""
    family = _Family(_marks(branch), [branch])
    linked = {id(owners[mark]): owners[mark] for mark in family.marks if mark in owners}
    for other in linked.values():
        other.members.extend(family.members)
        other.marks.update(family.marks)
        family = other
    owners.update(dict.fromkeys(family.marks, family))


def _marks(branch: AvroType) -> set[_Mark]:
    """Give the marks of a branch; those that share one belong together."""
    if branch.name:
        names = (branch.name, *branch.aliases)
        return {(branch.kind, name.rpartition(".")[2]) for name in names}
    return {("number" if branch.kind in NUMBERS else branch.kind, "")}


def _check_contradiction(
    types: Sequence[AvroType], owners: dict[_Mark, _Family], path: str
) -> None:
    """Refuse families that no version holds together; null goes with anything."""
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
    """Say that two versions contradict each other at a path."""
    return SchemaConflictError(
        f"{path or 'the schema'}: {one.label()} in one version and {other.label()} in another, "
        "expected types that one can hold without changing a value",
        path=path,
    )
