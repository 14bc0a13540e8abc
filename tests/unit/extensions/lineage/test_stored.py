"""What the catalog and the metadata of a table tell of its columns and rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.extensions.lineage import stored
from penstock.extensions.lineage.stored import StoredTable, Tables
from penstock.tables import Column, Marker

_NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def _metadata(*snapshots: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        {"id": 1, "name": "a", "type": "long", "doc": 'field "A-1"'},
        {"id": 2, "name": "b", "type": {"type": "struct", "fields": []}},
    ]
    schemas = [{"schema-id": number, "fields": fields[: number + 1]} for number in (0, 1)]
    return {"schemas": schemas, "current-schema-id": 1, "snapshots": list(snapshots)}


def _snapshot(second: int, schema: int, **summary: str) -> dict[str, Any]:
    moment = int(_NOW.timestamp() + second) * 1_000
    return {"timestamp-ms": moment, "schema-id": schema, "summary": summary}


def test_columns_are_those_of_the_newest_snapshot_of_a_moment() -> None:
    own = Marker("query", 1, 0).to_summary()
    found = _metadata(
        _snapshot(0, 0, operation="append", **own),
        _snapshot(1, 1, operation="append"),
        _snapshot(2, 1, operation="replace"),
    )

    then, notes, _ = stored._read_metadata(found, _NOW)
    now, none, told = stored._read_metadata(found, None)

    assert then == (Column("a", "long", 'field "A-1"'),)
    assert [(each.name, each.type) for each in now] == [("a", "long"), ("b", "struct")]
    assert notes == none == []
    assert told == (
        "snapshots that another program than a job of Penstock appended: 1 of the 3 that it keeps"
    )


class _Catalog:
    """Athena and the store of metadata for one table."""

    def __init__(self, table: dict[str, Any], metadata: bytes = b"") -> None:
        self.table, self.metadata = table, metadata
        self.asked: list[str] = []

    def has_table(self, name: str) -> bool:
        return bool(self.table)

    def find_table(self, name: str) -> dict[str, Any]:
        return self.table

    def get(self, where: str) -> bytes:
        return self.metadata

    def ask(self, sql: str, database: str) -> Any:
        self.asked.append(sql)
        raise AssertionError("a table without _schema_id is not counted")


def _read(catalog: _Catalog, as_of: datetime | None = None) -> StoredTable:
    tables = Tables.__new__(Tables)
    tables._athena = tables._store = catalog  # type: ignore[assignment]
    tables._as_of = as_of
    return tables.read("lake", "lake.t")


def test_compressed_metadata_and_rows_without_versions_are_read() -> None:
    parameters = {"metadata_location": "s3://lake/t/metadata/1.gz.metadata.json"}
    content = gzip.compress(json.dumps(_metadata()).encode())

    found = _read(_Catalog({"Parameters": parameters}, content))

    assert [each.name for each in found.columns] == ["a", "b"]
    assert found.rows is None
    assert found.notes == (
        "its rows do not say their schema versions: it has no column _schema_id",
    )


def test_columns_of_plain_files_are_those_of_the_catalog_now() -> None:
    columns = [{"Name": "roomname", "Type": "string", "Comment": "field roomName"}]

    found = _read(_Catalog({"StorageDescriptor": {"Columns": columns}}), _NOW)

    assert (found.kind, found.columns) == ("parquet", (Column("roomName", "string"),))
    assert found.notes[0] == "its columns are those of now: the catalog keeps no others"


def test_a_table_that_is_not_there_yet_is_no_error() -> None:
    assert _read(_Catalog({})) == StoredTable("", notes=("the table is not there yet",))
