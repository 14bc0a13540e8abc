"""What a registry would answer to a new version of a schema, by its rule and those of Penstock.

It is computed as `SchemaRegistry.register` does, from one reading of the versions: tests compare
the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from penstock.errors import SchemaConflictError, SchemaError
from penstock.registry import (
    SCHEMA_NAME,
    Agreement,
    ComparedWith,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    check_rule,
)
from penstock.schemas import (
    Compatibility,
    Incompatibility,
    Schema,
    check_both_ways,
    load_canonical,
    load_schema,
)

READINGS: Final = (ComparedWith.CHECKPOINT, ComparedWith.PREVIOUS)
# Why a version is refused, besides Avro's kinds of incompatibility.
CONTRADICTION: Final = "CONTRADICTION"
DATA_FORMAT: Final = "DATA_FORMAT"
NAME: Final = "SCHEMA_NAME"
REFUSED_VERSION: Final = "REFUSED_VERSION"
VERSIONS_DISABLED: Final = "VERSIONS_DISABLED"

Reasons = tuple[Incompatibility, ...]
Matrix = Mapping[Compatibility, Mapping[ComparedWith, Reasons]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason against a version; `reading` is the one that refuses it if the other does not."""

    rule: str
    path: str
    message: str
    reading: ComparedWith | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: the version that has the definition, or the number that a new one would get.

    `before` is the newest version that the registry accepted. `usable` counts the versions that
    readers use, and `merged` is their merge, if there is any.
    `matrix` has the reasons of each mode against a new version, by the readings of
    the registry's rule.
    """

    mode: Compatibility
    number: int
    is_new: bool
    refusals: tuple[Refusal, ...]
    usable: int = 0
    merged: Sequence[Schema] = ()
    before: Schema | None = None
    matrix: Matrix | None = None


def judge(
    name: str,
    schema: Schema,
    definition: str,
    stored: SchemaBackup | None,
    mode: Compatibility | None,
) -> Verdict:
    """Return what a registry would answer to a definition.

    Args:
        name: the name of the schema.
        schema: the schema.
        definition: its canonical text.
        stored: the schema in the registry, None if it has none.
        mode: the mode that the schema gets with a new version, None if it keeps its own.
    """
    if stored is None:
        fits = SCHEMA_NAME.fullmatch(name)
        message = f"found the name {name!r}, expected 1 to 255 letters, digits or - _ $ # ."
        refusals = () if fits else (Refusal(NAME, "", message),)
        return Verdict(mode or Compatibility.BACKWARD, 1, True, refusals)
    if stored.data_format != "AVRO":
        message = f"the schema has the format {stored.data_format}, expected AVRO"
        return Verdict(stored.compatibility, 0, True, (Refusal(DATA_FORMAT, "", message),))
    if found := _find_version(definition, stored):
        return _judge_known(found, stored)
    return _judge_new(schema, stored, mode)


def _find_version(definition: str, stored: SchemaBackup) -> StoredVersion | None:
    """Return the version with a definition.

    Glue compares texts, as far as is known; registries with Confluent's API compare schemas.
    """
    live = [each for each in stored.versions if each.status is not VersionStatus.DELETING]
    same = next((each for each in reversed(live) if each.definition == definition), None)
    if same or stored.checkpoint:
        return same
    return next((each for each in reversed(live) if _write_canonical(each) == definition), None)


def _write_canonical(version: StoredVersion) -> str | None:
    try:
        return load_canonical(version.definition)[1]
    except SchemaError:
        return None


def _load_version(version: StoredVersion) -> Schema | None:
    """Return the schema of a version; None if no reader could use it."""
    try:
        return load_schema(version.definition)
    except SchemaError:
        return None


def _judge_known(found: StoredVersion, stored: SchemaBackup) -> Verdict:
    refusals: tuple[Refusal, ...] = ()
    if found.status is VersionStatus.FAILURE:
        message = f"version {found.number} has this definition, and the registry has refused it"
        refusals = (Refusal(REFUSED_VERSION, "", message),)
    usable = sum(each.status is VersionStatus.AVAILABLE for each in stored.versions)
    return Verdict(stored.compatibility, found.number, False, refusals, usable)


def _judge_new(schema: Schema, stored: SchemaBackup, mode: Compatibility | None) -> Verdict:
    live = [each for each in stored.versions if each.status is VersionStatus.AVAILABLE]
    available = {each.number: loaded for each in live if (loaded := _load_version(each))}
    used_mode = (available and mode) or stored.compatibility
    readings = READINGS if stored.checkpoint else READINGS[1:]
    matrix = _check_modes(schema, available, stored.checkpoint, readings)
    refusals = list(_list_refusals(matrix[used_mode]))
    agreed = Agreement().with_versions(dict(sorted(available.items())))
    try:
        agreed.merge_with(schema)
    except SchemaConflictError as error:
        message = f"it contradicts the versions of the schema: {error}"
        refusals.append(Refusal(CONTRADICTION, error.path, message))
    if used_mode is Compatibility.DISABLED and not refusals:  # nothing to compare with
        refusals.append(Refusal(VERSIONS_DISABLED, "", "the schema's mode is DISABLED"))
    number = max((each.number for each in stored.versions), default=0) + 1
    before = available[max(available)] if available else None
    usable, merged = len(agreed.usable), agreed.merged
    return Verdict(used_mode, number, True, tuple(refusals), usable, merged, before, matrix)


def _check_modes(
    schema: Schema,
    available: Mapping[int, Schema],
    checkpoint: int,
    readings: Sequence[ComparedWith] = READINGS,
) -> Matrix:
    """Return the reasons of each mode; two schemas are compared once for all modes."""
    later = {number: available[number] for number in sorted(available) if number >= checkpoint}
    compared = dict(zip(later, check_both_ways(schema, later.values()), strict=True))

    def check(mode: Compatibility, reading: ComparedWith) -> Reasons:
        if mode in {Compatibility.NONE, Compatibility.DISABLED} or not later:
            return check_rule(schema, available, mode, checkpoint, reading)
        numbers = list(later)
        if not mode.endswith("_ALL"):
            numbers = numbers[:1] if reading is ComparedWith.CHECKPOINT else numbers[-1:]
        direction = mode.removesuffix("_ALL")
        found: dict[Incompatibility, None] = {}
        for number in numbers:
            backward, forward = compared[number]
            if direction != Compatibility.FORWARD:
                found |= dict.fromkeys(backward)
            if direction != Compatibility.BACKWARD:
                found |= dict.fromkeys(forward)
        return tuple(found)

    return {mode: {each: check(mode, each) for each in readings} for mode in Compatibility}


def _list_refusals(found: Mapping[ComparedWith, Reasons]) -> Iterator[Refusal]:
    """Yield why a mode refuses a version: by all readings of its rule, or by one of them."""
    refusing = [reading for reading, reasons in found.items() if reasons]
    reading = refusing[0] if len(refusing) < len(found) and refusing else None
    for each in dict.fromkeys(reason for reasons in found.values() for reason in reasons):
        yield Refusal(each.kind, each.path, each.message, reading)
