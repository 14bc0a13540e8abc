"""The file of a backup: a path, or an object on S3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.aws import split_s3_url
from penstock.errors import OperationError, SettingsError, SinkError
from penstock.registry import RegistryBackup, load_backup, write_backup
from penstock.sinks import ObjectStore

_S3 = "s3://"


def write_backup_file(to: str, backup: RegistryBackup, *, replace: bool) -> bool:
    """Write a backup unless it is there already; return whether it was written.

    Raises:
        OperationError: the file cannot be written, or is not to be replaced: it has ids that the
            new one lacks, or cannot be read.
    """
    old = unread = None
    try:
        old = load_backup(to)
    except (SettingsError, SinkError) as error:  # it may be missing, or be there
        unread = error
    if old == backup:
        return False
    if old is not None and not replace:
        _check_ids(to, old, backup)
    try:
        with translated_file_errors():
            save_backup(to, backup, over=replace or unread is None)
    except FileExistsError:
        raise OperationError(
            f"{to} is there, and which ids it has cannot be read ({unread}); write to another"
            " file, or add --replace"
        ) from unread
    return True


def save_backup(where: str, backup: RegistryBackup, *, over: bool = True) -> None:
    """Write a backup to a path or s3:// URL; a reader finds the old file or the whole new one.

    Raises:
        FileExistsError: a file is there, and is not to be written over.
        SettingsError: the file cannot be written.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer.
    """
    content = write_backup(backup).encode()
    if where.startswith(_S3):
        bucket, name = split_s3_url(where)
        ObjectStore(bucket).put(name, content, over=over)
        return
    path = Path(where)
    if not path.name:
        raise SettingsError(
            [f"found {where!r} as the place of a backup, expected a path or s3://BUCKET/KEY"]
        )
    if not over and path.exists():
        raise FileExistsError(where)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise SettingsError([f"{where} cannot be written: {error.strerror}"]) from error


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
