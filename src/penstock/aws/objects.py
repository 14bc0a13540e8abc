"""Objects on S3, and the text of a file that may be one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.aws.errors import translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import SettingsError

if TYPE_CHECKING:
    from botocore.session import Session

_S3: Final = "s3://"


def open_s3(session: Session) -> Any:
    """Return a client of S3 that does not wait long for an answer."""
    # Few programs read or write an object, and the import takes a tenth of a second.
    from botocore.config import Config  # noqa: PLC0415

    retries: Any = {"mode": "standard", "total_max_attempts": 4}
    config = Config(connect_timeout=3, read_timeout=10, retries=retries)
    return session.create_client("s3", config=config)


def read_text_at(where: str) -> str:
    """Return the text at a path or s3:// URL.

    Raises:
        SettingsError: it is no place of a file, or the file cannot be read.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer, or
            there is no such object (retriable).
    """
    if not where:
        raise SettingsError(["found '' as the place of a file, expected a path or s3://BUCKET/KEY"])
    try:
        return _read_object(where) if where.startswith(_S3) else Path(where).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError([f"{where} cannot be read: it is not text in UTF-8"]) from error
    except OSError as error:
        raise SettingsError([f"{where} cannot be read: {error.strerror}"]) from error


def split_s3_url(where: str) -> tuple[str, str]:
    """Return the bucket and the key of an s3:// URL.

    Raises:
        SettingsError: it lacks one of them.
    """
    bucket, _, key = where.removeprefix(_S3).partition("/")
    if not (bucket and key):
        raise SettingsError([f"found {where}, expected s3://BUCKET/KEY"])
    return bucket, key


def _read_object(where: str) -> str:
    bucket, key = split_s3_url(where)
    with translated_s3_errors(f"{where} cannot be read"):
        answer = open_s3(load_session()).get_object(Bucket=bucket, Key=key)
        content: bytes = answer["Body"].read()
    return content.decode()
