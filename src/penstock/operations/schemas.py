"""The schemas of a registry: their versions, how two differ, and whether a new one would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from penstock.errors import (
    OperationError,
    RegistryError,
    SchemaConflictError,
    SchemaError,
    SchemaNotFoundError,
)
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import (
    ComparedWith,
    RegistryAdmin,
    SchemaBackup,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
    check_rule,
    load_admin,
    load_registry,
)
from penstock.schemas import (
    Schema,
    SchemaDiff,
    canonical_form,
    check_compatibility,
    diff_schemas,
    load_schema,
    merge_schemas,
)

_SHOWN_NAMES: Final = 20


@dataclass(frozen=True, slots=True)
class ComparedVersions:
    """Two versions, their differences, and why one cannot read the records of the other."""

    before: StoredVersion
    after: StoredVersion
    diff: SchemaDiff
    after_reads_before: tuple[str, ...]
    before_reads_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedSchema:
    """The verdict on a new version: reasons against it, and who would be affected.

    `problems` are the reasons against it, each with its rule. `number` is the version that has the
    definition already. Consumers of Penstock read each record with its own version, so `readers`
    and `records` concern other programs: the versions with which they cannot read new records, and
    the versions whose records they cannot read with the new one.
    """

    compatibility: str
    problems: tuple[str, ...]
    number: int | None
    readers: tuple[int, ...]
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """The version with a definition; `created` is false if the schema had it."""

    number: int
    id: str
    created: bool


def list_schemas(url: str) -> Sequence[str]:
    """Return the names of all schemas of a registry.

    Raises:
        SettingsError: the URL names no registry of Glue, Confluent or Apicurio.
        RegistryError: the registry denies a call, or does not answer.
    """
    return load_admin(url).list_names()


def read_versions(url: str, name: str, report: ReportProgress = ignore_progress) -> SchemaBackup:
    """Return a schema with all its versions, those that the registry refused too.

    `report` is called with the number of versions that are read, and of all.

    Raises:
        SchemaNotFoundError: there is no such schema.
        SettingsError, RegistryError: see `list_schemas`.
    """
    admin = load_admin(url)
    try:
        return admin.read_schema(name, report)
    except SchemaNotFoundError as error:
        raise _name_known(admin, name, error) from error


def read_version(
    url: str, name: str, number: int | None = None, report: ReportProgress = ignore_progress
) -> StoredVersion:
    """Return a version of a schema; without a number, the newest that the registry accepted.

    Raises:
        OperationError: the schema has no such version.
        SchemaNotFoundError, SettingsError, RegistryError: see `read_versions`.
    """
    return _choose(read_versions(url, name, report), number)


def compare_versions(
    url: str, name: str, before: int, after: int, report: ReportProgress = ignore_progress
) -> ComparedVersions:
    """Compare two versions of a schema.

    Raises:
        SchemaError: a version has no definition that can be used.
        OperationError, SchemaNotFoundError, SettingsError, RegistryError: see `read_version`.
    """
    schema = read_versions(url, name, report)
    old, new = _choose(schema, before), _choose(schema, after)
    was, now = load_schema(old.definition), load_schema(new.definition)
    return ComparedVersions(
        old,
        new,
        diff_schemas(was, now),
        tuple(map(str, check_compatibility(reader=now, writer=was))),
        tuple(map(str, check_compatibility(reader=was, writer=now))),
    )


def check_candidate(
    url: str, name: str, definition: str, report: ReportProgress = ignore_progress
) -> CheckedSchema:
    """Check a definition against the rules of a schema, without a call that changes anything.

    Raises:
        SchemaError: the definition is no schema that readers could use.
        SchemaNotFoundError, SettingsError, RegistryError: see `read_versions`.
    """
    candidate = load_schema(definition)
    stored = read_versions(url, name, report)
    report("the usable versions are read", None, None)
    usable = load_registry(url).versions(name)
    number = _find_number(candidate, stored)
    problems: tuple[str, ...] = ()
    if number is None:
        problems = (*_check_mode(candidate, stored), *_check_merge(candidate, usable))
    elif all(version.number != number for version in usable):
        problems = (f"version {number} has this definition, and was refused",)
    return CheckedSchema(
        stored.compatibility.value,
        problems,
        number,
        tuple(each.number for each in usable if check_compatibility(each.schema, candidate)),
        tuple(each.number for each in usable if check_compatibility(candidate, each.schema)),
    )


def register_schema(url: str, name: str, definition: str) -> RegisteredSchema:
    """Register a definition as the newest version of a schema, unless the schema has it.

    Raises:
        SchemaError: the definition is no schema that readers could use, or contradicts a version.
        IncompatibleSchemaError: the schema's mode refuses it.
        SettingsError, RegistryError: see `SchemaRegistry.register`.
    """
    found = load_registry(url).register(name, load_schema(definition))
    return RegisteredSchema(found.version.number, str(found.version.key), found.created)


def _name_known(admin: RegistryAdmin, name: str, error: SchemaNotFoundError) -> SchemaNotFoundError:
    """Return the error for a schema that is not there; it names those that are."""
    try:
        names = sorted(admin.list_names())
    except RegistryError:  # the registry is not there either, or only the schema may be read
        return error
    found = f"found no schema {name} in registry {admin.name}"
    if not names:
        return SchemaNotFoundError(
            f"{found}, which has no schema: register one, or name another registry "
            "(PENSTOCK_REGISTRY, --registry)"
        )
    more = f" or {len(names) - _SHOWN_NAMES:,} more" if len(names) > _SHOWN_NAMES else ""
    return SchemaNotFoundError(f"{found}, expected one of {', '.join(names[:_SHOWN_NAMES])}{more}")


def _choose(schema: SchemaBackup, number: int | None) -> StoredVersion:
    numbers = {version.number: version for version in schema.versions}
    if number is None:
        accepted = [v for v in schema.versions if v.status is VersionStatus.AVAILABLE]
        if accepted:
            return accepted[-1]
    elif number in numbers:
        return numbers[number]
    known = ", ".join(map(str, numbers))
    if not numbers:
        problem = "no version: register a definition"
    elif number is None:
        problem = (
            "no version that its registry accepted: name a refused one by its number "
            f"({known}), or register a definition"
        )
    else:
        problem = f"no version {number}, expected one of {known}"
    raise OperationError(f"schema {schema.name} has {problem}")


def _find_number(candidate: Schema, stored: SchemaBackup) -> int | None:
    """Return the number of the version with this definition; a registry has each once."""
    text = canonical_form(candidate)
    for version in stored.versions:
        schema = _load(version)
        if schema is not None and canonical_form(schema) == text:
            return version.number
    return None


def _check_mode(candidate: Schema, stored: SchemaBackup) -> list[str]:
    mode = stored.compatibility
    available = {
        version.number: schema
        for version in stored.versions
        if version.status is VersionStatus.AVAILABLE and (schema := _load(version)) is not None
    }
    reading = ComparedWith.BOTH if stored.checkpoint else ComparedWith.PREVIOUS
    return [
        f"{mode}: {problem}"
        for problem in check_rule(candidate, available, mode, stored.checkpoint, reading)
    ]


def _load(version: StoredVersion) -> Schema | None:
    try:
        return load_schema(version.definition)
    except SchemaError:
        return None


def _check_merge(candidate: Schema, usable: Sequence[SchemaVersion]) -> list[str]:
    try:
        merge_schemas([*(each.schema for each in usable), candidate])
    except SchemaConflictError as error:
        return [f"contradicts its versions: {error}"]
    return []
