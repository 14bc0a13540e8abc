"""The table `information_schema.columns`: the columns of all tables that a caller may see.

Athena User Guide, "Query the AWS Glue Data Catalog"; its columns are those of the guide's examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
from botocore.exceptions import ClientError

from localcloud.queries.types import read_type, write_trino_type

INFORMATION_SCHEMA = "information_schema"
_SCHEMA = pa.schema(
    [
        ("table_catalog", pa.string()),
        ("table_schema", pa.string()),
        ("table_name", pa.string()),
        ("column_name", pa.string()),
        ("ordinal_position", pa.int64()),
        ("column_default", pa.string()),
        ("is_nullable", pa.string()),
        ("data_type", pa.string()),
        ("comment", pa.string()),
        ("extra_info", pa.string()),
    ]
)


def list_columns(glue: Any) -> pa.Table:
    """Return a row for each column; databases whose tables the caller must not list have none."""
    rows = [row for table in _list_tables(glue) for row in _describe(table)]
    return pa.Table.from_pylist(rows, _SCHEMA)


def _list_tables(glue: Any) -> Iterator[dict[str, Any]]:
    for page in glue.get_paginator("get_databases").paginate():
        for database in page["DatabaseList"]:
            try:
                for tables in glue.get_paginator("get_tables").paginate(
                    DatabaseName=database["Name"]
                ):
                    yield from tables["TableList"]
            except ClientError as error:
                if error.response["Error"]["Code"] != "AccessDeniedException":
                    raise


def _describe(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    keys = [(each, "partition key") for each in table.get("PartitionKeys", [])]
    columns = [
        (each, None)
        for each in table.get("StorageDescriptor", {}).get("Columns", [])
        if each.get("Parameters", {}).get("iceberg.field.current") != "false"
    ]
    for position, (column, extra) in enumerate([*columns, *keys], start=1):
        yield {
            "table_catalog": "awsdatacatalog",
            "table_schema": table["DatabaseName"].lower(),
            "table_name": table["Name"].lower(),
            "column_name": column["Name"].lower(),
            "ordinal_position": position,
            "is_nullable": "YES",
            "data_type": _write_type(column["Type"]),
            "comment": column.get("Comment"),
            "extra_info": extra,
        }


def _write_type(text: str) -> str:
    """Return Trino's name of a type of the catalog; an unknown type keeps its name."""
    try:
        empty = pa.schema([("c", read_type(text))]).empty_table()
        with duckdb.connect() as connection:
            return write_trino_type(connection.from_arrow(empty).types[0])
    except ValueError:
        return text
