"""Backups of a schema registry: write one, and restore schemas from one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from penstock.errors import OperationError, RegistryError
from penstock.extensions.registry_copy._backup_file import (
    translated_file_errors,
    write_backup_file,
)
from penstock.extensions.registry_copy.conversion import convert_schema, take_name
from penstock.extensions.registry_copy.restore import (
    SchemaPlan,
    plan_restore,
    read_present,
    restore_schema,
)
from penstock.framing import FrameKind
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    has_content_ids,
    load_admin,
    load_backup,
)


@dataclass(frozen=True, slots=True)
class ExportedSchema:
    """A schema in a backup, and the number of its versions there."""

    name: str
    versions: int


@dataclass(frozen=True, slots=True)
class RestoredVersion:
    """A version of a backup: keep, register or leave-out, and its number and id in the registry.

    The number of a version that is not registered yet is the expected one, and it has no id.
    """

    number: int
    id: str
    action: str
    new_number: int | None
    new_id: str | None


@dataclass(frozen=True, slots=True)
class RestoredSchema:
    """A schema of a backup: create, complete, describe (mode only), keep or leave-out."""

    name: str
    action: str
    compatibility: str
    versions: tuple[RestoredVersion, ...]


def export_schemas(
    url: str,
    to: str,
    names: Collection[str] = (),
    *,
    replace: bool = False,
    report: ReportProgress = ignore_progress,
) -> tuple[ExportedSchema, ...]:
    """Write a backup of a registry, or of some of its schemas, to a path or s3:// URL.

    Without `replace`, a backup at that place is kept if it has schema ids that the new one lacks.
    `report` is called for each schema that is read, with the number of those and of all.

    Raises:
        OperationError: the registry has no schema of a name, the file cannot be written, or it is
            a backup that must be kept.
        SettingsError: the URL names no registry of Glue, Confluent or Apicurio.
        RegistryError: the registry denies a call, or does not answer.
    """
    admin = load_admin(url)
    present = admin.list_names()
    if missing := sorted(set(names).difference(present)):
        raise OperationError(
            f"found no schema {', '.join(missing)} in {admin.source}, expected "
            f"{', '.join(present) or 'none'}"
        )
    wanted = sorted(set(names) or present)
    schemas = []
    report("schemas", 0, len(wanted))
    for name in wanted:
        schemas.append(admin.read_schema(name))
        report("schemas", len(schemas), len(wanted))
    backup = RegistryBackup(admin.name, admin.kind, tuple(schemas), has_content_ids(url))
    write_backup_file(to, backup, replace=replace)
    return tuple(ExportedSchema(each.name, len(each.versions)) for each in backup.schemas)


def import_schemas(
    url: str, path: str, *, dry_run: bool = False, report: ReportProgress = ignore_progress
) -> Iterator[RestoredSchema]:
    """Restore the schemas of a backup, one after the other, and yield each when it is verified.

    Those that the registry cannot have are told in the end, when the others are restored.

    With `dry_run`, nothing is changed, and what would be done is yielded. `report` is called with
    the number of schemas that are done, and of all.

    Raises:
        OperationError: the file is no whole backup, the registry is not Glue's, or it cannot have
            some of the schemas.
        SettingsError: the URL names no registry of Glue, Confluent or Apicurio.
        RegistryError, SchemaError: a schema cannot be restored, or differs from the backup
            afterwards.
    """
    admin = load_admin(url)
    if admin.kind is not FrameKind.GLUE:
        raise OperationError(
            f"{admin.source} numbers its schemas, so its new ids would be old ids of others, "
            "expected a Glue registry; restore it with its own tools, which keep the ids"
        )
    with translated_file_errors():
        backup = load_backup(path)
    schemas, problems = _convert_schemas(backup, admin.kind)
    present = set(admin.list_names())
    report("schemas", 0, len(schemas))
    for done, schema in enumerate(schemas, 1):
        target = read_present(admin, schema.name) if schema.name in present else None
        plan = plan_restore(schema, target)
        yield _make_result(plan, plan if dry_run else restore_schema(admin, plan))
        report("schemas", done, len(schemas))
    if problems:
        others = "could be" if dry_run else "were"
        raise OperationError(f"{'; '.join(problems)}; the other schemas {others} imported")


def _convert_schemas(
    backup: RegistryBackup, target: FrameKind
) -> tuple[list[SchemaBackup], list[str]]:
    """Return the schemas as a registry of another kind can hold them, and why it cannot others."""
    schemas, problems, taken = [], [], dict[str, str]()
    for each in backup.schemas:
        try:
            schema = convert_schema(each, backup.kind, target).schema
            take_name(each, schema.name, taken)
        except RegistryError as error:
            problems.append(str(error))
        else:
            schemas.append(schema)
    return schemas, problems


def _make_result(plan: SchemaPlan, result: SchemaPlan) -> RestoredSchema:
    versions = tuple(
        RestoredVersion(
            each.version.number, each.version.id, each.action.value, each.number, each.id
        )
        for each in result.versions
    )
    mode = plan.schema.compatibility.value
    return RestoredSchema(plan.schema.name, plan.action, mode, versions)
