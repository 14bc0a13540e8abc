"""The file of a backup as operations write it, and what a restoration and a copy share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.errors import OperationError, SchemaNotFoundError, SettingsError, SinkError
from penstock.registry import (
    RegistryAdmin,
    RegistryBackup,
    SchemaBackup,
    SchemaPlan,
    load_backup,
    save_backup,
)


def write_backup_file(to: str, backup: RegistryBackup, *, replace: bool) -> bool:
    """Write a backup unless it is there already; return whether it was written.

    Raises:
        OperationError: the file cannot be written, or ids would be lost that a backup at the place
            has, and it is not to be replaced.
    """
    try:
        old = load_backup(to)
    except (SettingsError, SinkError):
        old = None
    if old == backup:
        return False
    if old is not None and not replace:
        _check_ids(to, old, backup)
    with translated_file_errors():
        save_backup(to, backup)
    return True


def describe_action(plan: SchemaPlan) -> str:
    """Return what a plan does with its schema: create, complete, describe or keep."""
    if plan.target is None:
        return "create"
    if plan.to_register:
        return "complete"
    return "keep" if plan.is_done else "describe"


def read_present(admin: RegistryAdmin, name: str) -> SchemaBackup | None:
    """Return a schema of a registry, or None without it."""
    try:
        return admin.read_schema(name)
    except SchemaNotFoundError:
        return None


def _check_ids(to: str, old: RegistryBackup, backup: RegistryBackup) -> None:
    if lost := sorted(_ids(old) - _ids(backup)):
        raise OperationError(
            f"{to} has {len(lost)} schema ids that the new backup lacks, such as {lost[0]}; write "
            "to another file, or add --replace"
        )


def _ids(backup: RegistryBackup) -> set[str]:
    return {key for schema in backup.schemas for version in schema.versions for key in version.keys}


@contextmanager
def translated_file_errors() -> Iterator[None]:
    """Raise the SettingsError of a backup's file as an OperationError."""
    try:
        yield
    except SettingsError as error:
        raise OperationError(str(error)) from error
