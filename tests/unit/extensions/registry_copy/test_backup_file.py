"""The file of a backup: written whole, to a path or an object."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import OperationError, SettingsError, SinkUnavailableError
from penstock.extensions.registry_copy._backup_file import save_backup, write_backup_file
from penstock.framing import FrameKind
from penstock.registry import RegistryBackup, load_backup
from penstock.sinks import ObjectStore
from tests.fixtures.backups import bucket

__all__ = ["bucket"]

_BACKUP = RegistryBackup("plant", FrameKind.GLUE, ())


def test_a_backup_is_a_file_or_an_object(tmp_path: Path, bucket: str) -> None:
    path = tmp_path / "plant.jsonl"
    for where in (str(path), f"s3://{bucket}/a/plant.jsonl"):
        save_backup(where, _BACKUP)

        assert load_backup(where) == _BACKUP
    assert [each.name for each in tmp_path.iterdir()] == ["plant.jsonl"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("missing/b.jsonl", "missing/b.jsonl cannot be written: No such file or directory$"),
        ("", "found '' as the place of a backup, expected a path or s3://BUCKET/KEY"),
        (".", "found '.' as the place of a backup, expected a path or s3://BUCKET/KEY"),
        ("s3://bucket", "found s3://bucket, expected s3://BUCKET/KEY"),
        ("s3:///key", "found s3:///key, expected s3://BUCKET/KEY"),
    ],
)
def test_a_place_that_takes_no_backup_is_said(where: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{message}"):
        save_backup(where, _BACKUP)


@pytest.mark.parametrize("kind", ["file", "object"])
def test_what_cannot_be_read_is_replaced_only_on_demand(
    kind: str, tmp_path: Path, bucket: str
) -> None:
    path = tmp_path / "plant.jsonl"
    where = str(path) if kind == "file" else f"s3://{bucket}/damaged.jsonl"
    if kind == "file":
        path.write_text("damaged")
    else:
        ObjectStore(bucket).put("damaged.jsonl", b"damaged")

    with pytest.raises(OperationError, match=f"{where} is there, and which ids .* add --replace$"):
        write_backup_file(where, _BACKUP, replace=False)
    assert write_backup_file(f"{where}.new", _BACKUP, replace=False)
    assert write_backup_file(where, _BACKUP, replace=True)
    assert load_backup(where) == load_backup(f"{where}.new") == _BACKUP


def test_a_bucket_that_is_missing_is_an_error_that_may_pass(bucket: str) -> None:
    with pytest.raises(SinkUnavailableError, match=r"^s3://no-such/b cannot be written: "):
        save_backup("s3://no-such/b", _BACKUP)
