"""The files of a job, fetched from S3 with the job's role."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from localcloud.errors import JobFailedError

_SCHEMES = ("s3", "s3a")


def fetch(s3: Any, uri: str, folder: Path) -> Path:
    """Fetch one object into a folder, under the last part of its key.

    Raises:
        JobFailedError: it is not on S3, does not exist, or the role may not read it.
    """
    place = urlsplit(uri)
    key = place.path.lstrip("/")
    if place.scheme not in _SCHEMES or not key or key.endswith("/"):
        raise JobFailedError(f"{uri} is not an object on S3, expected s3://bucket/key")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / Path(key).name
    try:
        body = s3.get_object(Bucket=place.netloc, Key=key)["Body"]
        with target.open("wb") as file:
            shutil.copyfileobj(body, file)
    except ClientError as error:
        said = error.response["Error"]
        raise JobFailedError(f"{uri} cannot be read: {said['Code']}: {said['Message']}") from error
    return target


def fetch_archive(s3: Any, place: str, folder: Path, scratch: Path) -> str:
    """Fetch `uri#name`, unpack it as the folder `name`, and return its path in Spark's notation."""
    uri, _, name = place.partition("#")
    archive = fetch(s3, uri, scratch)
    try:
        shutil.unpack_archive(archive, folder / (name or archive.name), **_safely(archive))
    except (ValueError, OSError, shutil.ReadError) as error:
        raise JobFailedError(f"{uri} cannot be unpacked: {error}") from error
    return f"{archive}#{name}" if name else str(archive)


def _safely(archive: Path) -> dict[str, Any]:
    """Return options that keep files inside the folder; links may leave it, as venv-pack's do."""
    return {} if archive.suffix == ".zip" else {"filter": "tar"}
