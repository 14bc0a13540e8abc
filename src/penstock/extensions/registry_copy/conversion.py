"""A schema of one registry as a registry of another kind can hold it.

|               | Glue                       | Confluent, Apicurio   | in the other            |
| ------------- | -------------------------- | --------------------- | ----------------------- |
| name          | letters, digits, - _ $ # . | a subject             | `:SUBJECT` as `SUBJECT` |
| mode          | `BACKWARD_ALL`, `DISABLED` | `BACKWARD_TRANSITIVE` | refused if `DISABLED`   |
| compares with | the checkpoint             | the version before    | the newest version      |
| more          | description, tags          |                       | left out, and reported  |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.errors import RegistryError, SchemaError
from penstock.framing import FrameKind
from penstock.registry import (
    OTHER_NAMING,
    SCHEMA_NAME,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
)
from penstock.schemas import Compatibility, Schema, check_mode, load_schema


@dataclass(frozen=True, slots=True)
class ConvertedSchema:
    """A schema for another registry, and the properties that the other registry does not have."""

    schema: SchemaBackup
    left_out: tuple[str, ...]


def convert_schema(
    schema: SchemaBackup,
    source: FrameKind,
    target: FrameKind,
    *,
    name: str | None = None,
    disabled_as: Compatibility | None = None,
) -> ConvertedSchema:
    """Return a schema as a registry of another kind can hold it.

    Args:
        schema: the schema, as read from its registry.
        source: the kind of its registry.
        target: the kind of the other registry.
        name: its name there, if it is another one.
        disabled_as: the mode instead of DISABLED, where there is no such mode.

    Raises:
        RegistryError: the other registry cannot hold the schema.
    """
    converted = replace(schema, name=name or _convert_name(schema.name, target))
    _check_name(schema, converted.name, target)
    _check_formats(schema)
    if target is source:
        return ConvertedSchema(converted, ())
    if target is FrameKind.GLUE:
        return ConvertedSchema(replace(converted, checkpoint=_checkpoint(schema)), ())
    mode = _convert_mode(schema, disabled_as)
    left_out = [
        *([f"mode {schema.compatibility}, it is {mode}"] if mode != schema.compatibility else []),
        *([f"checkpoint {schema.checkpoint}"] if schema.checkpoint > 1 else []),
        *(["description"] if schema.description else []),
        *(["tags"] if schema.tags else []),
    ]
    plain = replace(converted, compatibility=mode, checkpoint=0, description="", tags={})
    return ConvertedSchema(plain, tuple(left_out))


def take_name(schema: SchemaBackup, name: str, taken: dict[str, str]) -> None:
    """Add to `taken` the name that a schema gets, unless it is left out.

    Raises:
        RegistryError: another schema has taken the name.
    """
    if _available(schema) and (other := taken.setdefault(name, schema.name)) != schema.name:
        raise RegistryError(
            f"schemas {other} and {schema.name} would both have the name {name}; choose another "
            "name for one of them"
        )


def check_definitions(schema: SchemaBackup) -> None:
    """Raise RegistryError if a version is not a whole schema, as with an unknown reference."""
    for version in _available(schema):
        if version.data_format == "AVRO":
            try:
                load_schema(version.definition)
            except SchemaError as error:
                raise RegistryError(
                    f"version {version.number} of schema {schema.name} has no definition that a "
                    f"reader could use: {error}"
                ) from error


def check_history(schema: SchemaBackup, numbers: Sequence[int]) -> None:
    """Raise RegistryError if a schema's mode refuses one of these versions after those before it.

    A version is compared as in Confluent's registry: with the version before, or with all for the
    modes that end with `_ALL`.
    """
    earlier: list[Schema] = []
    for version in _available(schema) if schema.data_format == "AVRO" else ():
        new = load_schema(version.definition)
        found = check_mode(new, earlier, schema.compatibility)
        if found and version.number in numbers:
            raise RegistryError(
                f"version {version.number} of schema {schema.name} is refused by the schema's mode "
                f"{schema.compatibility}: {'; '.join(map(str, found))}; its registry accepted it "
                "under another mode, or compared it with another version"
            )
        earlier.append(new)


def _convert_name(name: str, target: FrameKind) -> str:
    return name.removeprefix(OTHER_NAMING) if target is FrameKind.GLUE else name


def _check_name(schema: SchemaBackup, name: str, target: FrameKind) -> None:
    if target is FrameKind.GLUE and _available(schema) and not SCHEMA_NAME.fullmatch(name):
        raise RegistryError(
            f"schema {schema.name} would have the name {name!r}, expected 1 to 255 letters, digits "
            "or - _ $ # . in Glue; choose another name for it"
        )


def _check_formats(schema: SchemaBackup) -> None:
    for version in _available(schema):
        if version.data_format != schema.data_format:
            raise RegistryError(
                f"version {version.number} of schema {schema.name} is {version.data_format} and a "
                f"later one {schema.data_format}, expected one data format in all versions of a "
                "schema"
            )


def _convert_mode(schema: SchemaBackup, disabled_as: Compatibility | None) -> Compatibility:
    if schema.compatibility is not Compatibility.DISABLED:
        return schema.compatibility
    if disabled_as is None:
        raise RegistryError(
            f"schema {schema.name} has the mode DISABLED, which only Glue has; choose another mode "
            "for it"
        )
    return disabled_as


def _checkpoint(schema: SchemaBackup) -> int:
    """Return the number of the version that makes Glue compare as a registry without checkpoint."""
    numbers = [version.number for version in _available(schema)] or [1]
    return numbers[0] if schema.compatibility.endswith("_ALL") else numbers[-1]


def _available(schema: SchemaBackup) -> list[StoredVersion]:
    return [each for each in schema.versions if each.status is VersionStatus.AVAILABLE]
