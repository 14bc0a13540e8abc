"""Text is at a path or in an object; what is no text, or no place of one, is a wrong setting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.aws import read_text_at
from penstock.errors import SettingsError, SinkUnavailableError
from tests.fixtures.backups import bucket

__all__ = ["bucket"]


def test_text_is_in_a_file_or_an_object(
    tmp_path: Path, bucket: str, client: Callable[..., Any]
) -> None:
    path = tmp_path / "plan.json"
    path.write_text("ü", encoding="utf-8")
    client("s3").put_object(Bucket=bucket, Key="a/plan.json", Body="ü".encode())

    assert read_text_at(str(path)) == read_text_at(f"s3://{bucket}/a/plan.json") == "ü"


def test_an_object_that_is_missing_is_an_error_that_may_pass(bucket: str) -> None:
    with pytest.raises(
        SinkUnavailableError, match=rf"^s3://{bucket}/b cannot be read: .*NoSuchKey"
    ):
        read_text_at(f"s3://{bucket}/b")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("missing.json", "missing.json cannot be read: No such file or directory$"),
        ("", "found '' as the place of a file, expected a path or s3://BUCKET/KEY$"),
        ("s3://bucket", "found s3://bucket, expected s3://BUCKET/KEY$"),
        ("s3:///key", "found s3:///key, expected s3://BUCKET/KEY$"),
    ],
)
def test_a_place_without_a_file_is_refused(where: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{message}"):
        read_text_at(where)


def test_bytes_that_are_no_text_are_refused(
    tmp_path: Path, bucket: str, client: Callable[..., Any]
) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b"\xff\xfe")
    client("s3").put_object(Bucket=bucket, Key="b.json", Body=b"\xff\xfe")

    for where in (str(path), f"s3://{bucket}/b.json"):
        with pytest.raises(SettingsError, match=f"^{where} cannot be read: it is not text in UTF"):
            read_text_at(where)
