"""The file of a registry's backup: a path, or an object on S3."""

from __future__ import annotations

from penstock.aws import read_text_at
from penstock.registry.backup import RegistryBackup, read_backup


def load_backup(where: str) -> RegistryBackup:
    """Return the backup at a path or s3:// URL.

    Raises:
        SettingsError: the file cannot be read, or is no whole backup.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer, or
            there is no such object (retriable).
    """
    return read_backup(read_text_at(where), where)
