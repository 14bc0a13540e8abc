"""The rule by which all programs choose the same usable versions of a schema.

A registry compares a new version with only one or two older ones, so two independent producers can
register versions that contradict each other: `temperature` as double, and as string. Every reader
and producer applies the same rule without coordination: in the order of the numbers, a version
that contradicts the merge of the usable versions below it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.errors import SchemaConflictError
from penstock.registry.interface import SchemaVersion
from penstock.schemas import Schema, merge_schemas


def agree(versions: Iterable[SchemaVersion]) -> tuple[SchemaVersion, ...]:
    """Return the usable ones among a schema's versions, oldest first."""
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
    """Raise SchemaConflictError if a version contradicts the usable versions below it."""
    try:
        merge_schemas([*(each.schema for each in below), version.schema])
    except SchemaConflictError as error:
        raise SchemaConflictError(
            f"version {version.number} of schema {version.name} contradicts those below it and is "
            f"refused: {error}",
            path=error.path,
        ) from error
