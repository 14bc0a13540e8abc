"""Which versions of a schema everybody uses when two producers contradict each other.

A registry compares a new version with one or two older ones only, so two producers that do not
know of each other can both store a version: `temperature` as double, and as string. Every reader
and every producer then takes the same side without asking anybody: going up the numbers, a version
that contradicts the merge of the usable versions below it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.errors import SchemaConflictError
from penstock.registry.interface import SchemaVersion
from penstock.schemas import Schema, merge_schemas


def agree(versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
    """Give the usable ones of a schema's versions, oldest first."""
    agreed: list[SchemaVersion] = []
    merged: list[Schema] = []
    for version in sorted(versions, key=lambda each: each.number):
        try:
            merged = [merge_schemas([*merged, version.schema])]
        except SchemaConflictError:
            continue
        agreed.append(version)
    return tuple(agreed)


def check_agreement(version: SchemaVersion, below: Iterable[SchemaVersion]) -> None:
    """Raise SchemaConflictError if a version contradicts the usable ones below it."""
    try:
        merge_schemas([*(each.schema for each in below), version.schema])
    except SchemaConflictError as error:
        raise SchemaConflictError(
            f"version {version.number} of schema {version.name} contradicts those below it and is "
            f"refused: {error}",
            path=error.path,
        ) from error
