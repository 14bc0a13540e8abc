"""What the schemas of a folder are compared with: a registry, its backup, or a commit of git."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.errors import OperationError, SettingsError
from penstock.extensions.schema_plan.files import read_commit
from penstock.extensions.schema_plan.folder import load_folder
from penstock.registry import (
    RegistryAdmin,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    load_admin,
    load_backup,
)
from penstock.schemas import Compatibility

_GIT: Final = "git:"
_BACKUP: Final = "backup:"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Schemas as they are now.

    `names` are those that it has. `mode` is the mode that a schema gets with a new version, None if
    it keeps its own. `is_registry` is false for a commit of git, whose versions have no numbers and
    which refuses nothing by itself.
    """

    source: str
    names: Collection[str]
    read: Callable[[str], SchemaBackup]
    mode: Compatibility | None = None
    is_registry: bool = True


def load_baseline(
    against: str, registry: str, folder: Path, mode: Compatibility | None = None
) -> Baseline:
    """Return the schemas to compare with; nothing that is called writes.

    Args:
        against: `git:REF`, `backup:FILE`, the URL of a registry, or nothing for `registry`.
        registry: the URL of the registry of the settings.
        folder: the folder of the schemas, which a commit is asked for.
        mode: the mode to assume in place of the registry's; BACKWARD for a commit.

    Raises:
        SettingsError: neither names anything, or a backup or URL cannot be used.
        OperationError: git has no such commit, or the files of the commit cannot be used.
        RegistryError: the registry denies the call, or does not answer.
    """
    if against == _GIT:
        raise SettingsError(["found git: without a commit, expected git:REF, such as git:HEAD"])
    if against.startswith(_GIT):
        return _read_git(folder, against.removeprefix(_GIT), mode or Compatibility.BACKWARD)
    if against.startswith(_BACKUP):
        where = against.removeprefix(_BACKUP)
        schemas = {each.name: each for each in load_backup(where).schemas}
        return Baseline(where, schemas.keys(), schemas.__getitem__, mode)
    if not against and not registry:
        raise SettingsError(
            ["found nothing to compare with, expected --against, --registry or PENSTOCK_REGISTRY"]
        )
    return use_registry(load_admin(against or registry), mode)


def use_registry(admin: RegistryAdmin, mode: Compatibility | None = None) -> Baseline:
    """Return the schemas of a registry, each of which is read when it is asked for."""
    names = frozenset(admin.list_names())
    return Baseline(admin.source, names, admin.read_schema, mode or admin.mode)


def _read_git(folder: Path, ref: str, mode: Compatibility) -> Baseline:
    found = load_folder(*read_commit(folder, ref))
    if found.problems:
        raise OperationError(f"the files of {ref} cannot be used: {found.problems[0]}")
    schemas = {
        each.name: SchemaBackup(
            each.name, mode, 0, "AVRO", "", {}, (_make_version(each.name, each.definition),)
        )
        for each in found.schemas
    }
    return Baseline(f"{_GIT}{ref}", schemas.keys(), schemas.__getitem__, mode, is_registry=False)


def _make_version(name: str, definition: str) -> StoredVersion:
    return StoredVersion("", name, 1, VersionStatus.AVAILABLE, definition, None)
