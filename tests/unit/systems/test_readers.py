"""The readers of tables and dead letters."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import SortOrder
from pyiceberg.types import NestedField, StringType

from systems import readers
from systems.readers import DynamoLetters, IcebergTables, NoLetters, name_fields


@pytest.mark.parametrize("suffix", [".metadata.json", ".gz.metadata.json"])
def test_the_newest_metadata_is_read(tmp_path: Path, suffix: str) -> None:
    schema = Schema(NestedField(1, "id", StringType(), required=False))
    made = new_table_metadata(schema, PartitionSpec(), SortOrder(), f"file://{tmp_path}/a_table")
    newest = made.model_dump_json().encode()
    metadata = tmp_path / "a_table/metadata"
    metadata.mkdir(parents=True)
    (metadata / f"v9{suffix}").write_text("older")
    (metadata / f"v10{suffix}").write_bytes(gzip.compress(newest) if "gz" in suffix else newest)

    assert IcebergTables(tmp_path).read("a-table") == []


def test_a_table_that_is_not_there_has_no_rows(tmp_path: Path) -> None:
    assert IcebergTables(tmp_path).read("a-table") == []


def test_a_field_has_the_column_whose_comment_names_it() -> None:
    comments = {
        "_offset": None,
        "event_offset": "field _offset",
        "speed": "in km/h",
        "speed_2": 'field "a \\"b\\""',
    }

    assert name_fields(comments) == {
        "_offset": "event_offset",
        "speed": "speed",
        'a "b"': "speed_2",
    }


def test_a_dead_letter_is_its_bytes_and_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"id": "drop/0/1/2", "value": b"x", "reason": "truncated", "detail": "at byte 6"},
        {"id": "dropped/0/1/2", "value": b"y", "reason": "truncated", "detail": "at byte 7"},
        {"id": "drop/0/2/2", "reason": "unroutable", "detail": "no value"},
    ]
    monkeypatch.setattr(readers, "scan", lambda endpoint, table: rows)
    letters = DynamoLetters("http://127.0.0.1:1", "errors")

    assert letters.read("drop") == [b"x"]
    assert letters.describe("drop") == "truncated: at byte 6"
    assert letters.describe("rename") == ""


def test_a_system_without_dead_letters_has_none() -> None:
    assert NoLetters().read("a-table") == []
