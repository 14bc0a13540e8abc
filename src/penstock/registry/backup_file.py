"""The file of a registry's backup: a path, or an object on S3."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from botocore.config import Config

from penstock.aws import translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import SettingsError
from penstock.registry.backup import RegistryBackup, read_backup

_S3: Final = "s3://"
_CONFIG: Final = Config(
    connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 4}
)


def load_backup(where: str) -> RegistryBackup:
    """Return the backup at a path or s3:// URL.

    Raises:
        SettingsError: the file cannot be read, or is no whole backup.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer, or
            there is no such object (retriable).
    """
    return read_backup(_read_text(where), where)


def _read_text(where: str) -> str:
    if not where:
        raise SettingsError(
            ["found '' as the place of a backup, expected a path or s3://BUCKET/KEY"]
        )
    try:
        if not where.startswith(_S3):
            return Path(where).read_text(encoding="utf-8")
        with translated_s3_errors(f"{where} cannot be read"):
            content: bytes = _open_s3().get_object(**_locate(where))["Body"].read()
        return content.decode()
    except UnicodeDecodeError as error:
        raise SettingsError([f"{where} is no backup of a registry: no text in UTF-8"]) from error
    except OSError as error:
        raise SettingsError([f"{where} cannot be read: {error.strerror}"]) from error


def _locate(where: str) -> dict[str, str]:
    bucket, _, key = where.removeprefix(_S3).partition("/")
    if not (bucket and key):
        raise SettingsError([f"found {where}, expected s3://BUCKET/KEY"])
    return {"Bucket": bucket, "Key": key}


def _open_s3() -> Any:
    return load_session().create_client("s3", config=_CONFIG)
