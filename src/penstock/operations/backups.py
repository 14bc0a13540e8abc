"""Backups of a schema registry: write one, and restore schemas from one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.errors import OperationError, SchemaNotFoundError, SettingsError, SinkError
from penstock.registry import (
    RegistryAdmin,
    RegistryBackup,
    SchemaBackup,
    SchemaPlan,
    load_admin,
    load_backup,
    plan_restore,
    restore_schema,
    save_backup,
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
    """A schema of a backup: create, complete, describe (mode and the like only) or keep."""

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
    report: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[ExportedSchema, ...]:
    """Write a backup of a registry, or of some of its schemas, to a path or s3:// URL.

    Without `replace`, a backup at that place is kept if it has schema ids that the new one lacks.
    `report` is called for each schema that is read, with the number of those and of all.

    Raises:
        OperationError: the registry has no schema of a name, the file cannot be written, or it is
            a backup that must be kept.
        SettingsError: the URL names no Glue registry.
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
    for name in wanted:
        schemas.append(admin.read_schema(name))
        report(len(schemas), len(wanted))
    backup = RegistryBackup(admin.name, admin.kind, tuple(schemas))
    if not replace:
        _check_replaced(to, backup)
    with _translated():
        save_backup(to, backup)
    return tuple(ExportedSchema(each.name, len(each.versions)) for each in backup.schemas)


def import_schemas(url: str, path: str, *, dry_run: bool = False) -> Iterator[RestoredSchema]:
    """Restore the schemas of a backup, one after the other, and yield each when it is verified.

    With `dry_run`, nothing is changed, and what would be done is yielded.

    Raises:
        OperationError: the file is no whole backup.
        SettingsError: the URL names no Glue registry.
        RegistryError: a schema cannot be restored, or differs from the backup afterwards.
    """
    admin = load_admin(url)
    with _translated():
        backup = load_backup(path)
    present = set(admin.list_names())
    for schema in backup.schemas:
        target = _read(admin, schema.name) if schema.name in present else None
        plan = plan_restore(schema, target)
        yield _describe(plan, plan if dry_run else restore_schema(admin, plan))


def _check_replaced(to: str, backup: RegistryBackup) -> None:
    """Raise OperationError if ids would be lost that a backup at the place has, if it is there."""
    try:
        old = load_backup(to)
    except (SettingsError, SinkError):
        return
    if lost := sorted(_ids(old) - _ids(backup)):
        raise OperationError(
            f"{to} has {len(lost)} schema ids that the new backup lacks, such as {lost[0]}; write "
            "to another file, or add --replace"
        )


def _ids(backup: RegistryBackup) -> set[str]:
    return {version.id for schema in backup.schemas for version in schema.versions}


@contextmanager
def _translated() -> Iterator[None]:
    """Raise the SettingsError of a backup's file as an OperationError."""
    try:
        yield
    except SettingsError as error:
        raise OperationError(str(error)) from error


def _read(admin: RegistryAdmin, name: str) -> SchemaBackup | None:
    try:
        return admin.read_schema(name)
    except SchemaNotFoundError:
        return None


def _describe(plan: SchemaPlan, result: SchemaPlan) -> RestoredSchema:
    if plan.target is None:
        action = "create"
    elif plan.to_register:
        action = "complete"
    else:
        action = "keep" if plan.is_done else "describe"
    versions = tuple(
        RestoredVersion(
            each.version.number, each.version.id, each.action.value, each.number, each.id
        )
        for each in result.versions
    )
    return RestoredSchema(plan.schema.name, action, plan.schema.compatibility.value, versions)
