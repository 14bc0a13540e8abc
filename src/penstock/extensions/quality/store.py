"""Stored reports: one of JSON and one page for each check, in a folder or a bucket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from penstock.errors import OperationError
from penstock.extensions.quality.page import write_page
from penstock.extensions.quality.report import Report
from penstock.sinks import ObjectStore

_S3: Final = "s3://"
_TYPES: Final = {"json": "application/json", "html": "text/html; charset=utf-8"}


def save_report(report: Report, where: str) -> tuple[str, ...]:
    """Write a report below a folder or an s3:// URL, and return where its two files are.

    They are TABLE/TIME.json and TABLE/TIME.html.

    Raises:
        OperationError: a file cannot be written.
        SinkAccessDeniedError, SinkUnavailableError: an object cannot be written.
    """
    name = f"{report.table}/{report.checked_at:%Y%m%dT%H%M%SZ}"
    texts = {"json": json.dumps(report.to_json(), indent=2) + "\n", "html": write_page(report)}
    return tuple(
        _write_file(where.rstrip("/"), f"{name}.{kind}", text, _TYPES[kind])
        for kind, text in texts.items()
    )


def _write_file(where: str, name: str, text: str, content_type: str) -> str:
    if where.startswith(_S3):
        bucket, _, prefix = where.removeprefix(_S3).partition("/")
        key = f"{prefix}/{name}" if prefix else name
        return ObjectStore(bucket).put(key, text.encode(), content_type)
    path = Path(where, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise OperationError(f"{path} cannot be written: {error.strerror}") from error
    return str(path)
