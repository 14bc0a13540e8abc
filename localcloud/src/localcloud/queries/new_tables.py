"""Tables and views that a statement makes or drops, with the rights of its caller.

CREATE TABLE AS writes Parquet files to S3, then the table and its partitions to the catalog.
"""

from __future__ import annotations

import io
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from botocore.exceptions import ClientError
from duckdb.sqltypes import DuckDBPyType

from localcloud.queries.query import Query, QueryFailedError, Result, StatementKind
from localcloud.queries.statement import Statement, TableName
from localcloud.queries.tables import NULL_PARTITION, Catalog
from localcloud.queries.types import read_type, write_catalog_type, write_trino_type
from localcloud.queries.values import write_value
from localcloud.queries.views import describe_view, is_view

_PROPERTIES = {
    "comment",
    "external_location",
    "format",
    "parquet_compression",
    "partitioned_by",
    "table_type",
    "write_compression",
}
_COMPRESSIONS = {"GZIP", "NONE", "SNAPPY", "UNCOMPRESSED", "ZSTD"}
_MOST_PARTITIONS = 100
_ROWS = (("rows", "bigint"),)
_ESCAPED = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
_HIVE = "org.apache.hadoop.hive.ql.io.parquet"


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of a query: names of its columns (None if unnamed), rows, bytes scanned."""

    names: list[str | None]
    relation: duckdb.DuckDBPyRelation
    size: int


def create_table(
    query: Query, statement: Statement, selection: Selection, catalog: Catalog
) -> Result:
    """Create a table with the rows of a query, and return how many there are."""
    target, properties = _target(statement), statement.properties
    if _find_table(catalog, target) is not None:
        if statement.if_exists:
            return Result(_ROWS, [], selection.size)
        raise QueryFailedError(
            f"TABLE_ALREADY_EXISTS: {target.place}: Destination table '{_full(target)}' "
            "already exists"
        )
    _check_properties(query, properties)
    columns = _name_all(selection.names)
    types = [_catalog_type(kind) for kind in selection.relation.types]
    keys = [each.lower() for each in properties.get("partitioned_by", [])]
    if keys and columns[-len(keys) :] != keys:
        raise QueryFailedError(
            "HIVE_COLUMN_ORDER_MISMATCH: Partition keys must be the last columns in the table and "
            f"in the same order as the table properties: [{', '.join(keys)}]"
        )
    location = str(properties.get("external_location") or f"{query.output}/tables/{query.id}")
    location = location.rstrip("/")
    _check_empty(catalog, target, location)
    rows = _fetch(selection.relation, columns, types, statement.with_data)
    parts = list(_divide(rows, keys)) if len(rows) else []
    files = []
    for values, part in parts:
        place = "/".join([location, *_folders(keys, values)])
        files.append(_put(catalog, f"{place}/{query.id}_{uuid.uuid4()}", part, properties))
    described = [{"Name": name, "Type": kind} for name, kind in zip(columns, types, strict=True)]
    table = _make_table(target.name, location, described, len(keys), properties)
    places = [values for values, _ in parts] if keys else []
    _ask(lambda: catalog.glue.create_table(DatabaseName=target.database, TableInput=table))
    _register(catalog, target, table, places)
    return Result(_ROWS, [], selection.size, len(rows), tuple(files))


def create_view(statement: Statement, selection: Selection, catalog: Catalog) -> None:
    """Create a view, or replace one."""
    target = _target(statement)
    existing = _find_table(catalog, target)
    if existing is not None and not (statement.replace and is_view(existing)):
        what = "View" if is_view(existing) else "Table"
        raise QueryFailedError(
            f"TABLE_ALREADY_EXISTS: {target.place}: {what} already exists: '{_full(target)}'"
        )
    columns = [
        (name, write_trino_type(kind), _view_type(kind))
        for name, kind in zip(_name_all(selection.names), selection.relation.types, strict=True)
    ]
    table = describe_view(target.name, statement.query_sql, statement.database, columns)
    call = catalog.glue.create_table if existing is None else catalog.glue.update_table
    _ask(lambda: call(DatabaseName=target.database, TableInput=table))


def drop(statement: Statement, catalog: Catalog) -> None:
    """Drop a table or view from the catalog; the files stay, as those of any external table."""
    target = _target(statement)
    of_view = statement.kind is StatementKind.DROP_VIEW
    found = _find_table(catalog, target)
    if found is None or is_view(found) != of_view:
        if found is None and statement.if_exists:
            return
        what = "View" if of_view else "Table"
        raise QueryFailedError(
            f"{what.upper()}_NOT_FOUND: {target.place}: {what} '{_full(target)}' does not exist"
        )
    if found.get("Parameters", {}).get("table_type", "").upper() == "ICEBERG":
        raise QueryFailedError(
            "NOT_SUPPORTED: DROP TABLE of Iceberg, which deletes the files, is not supported by "
            "localcloud"
        )
    _ask(lambda: catalog.glue.delete_table(DatabaseName=target.database, Name=target.name))


def _target(statement: Statement) -> TableName:
    assert statement.target is not None  # noqa: S101 - statements of these kinds have one
    return statement.target


def _full(target: TableName) -> str:
    return f"awsdatacatalog.{target.database}.{target.name}"


def _ask(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ClientError as error:
        said = error.response["Error"]
        if said["Code"] == "EntityNotFoundException":
            raise QueryFailedError(f"SCHEMA_NOT_FOUND: {said['Message']}") from error
        raise QueryFailedError(
            f"Insufficient permissions to execute the query. {said['Message']}"
        ) from error


def _find_table(catalog: Catalog, target: TableName) -> dict[str, Any] | None:
    try:
        found = catalog.glue.get_table(DatabaseName=target.database, Name=target.name)
    except catalog.glue.exceptions.EntityNotFoundException:
        return None
    except ClientError as error:
        said = error.response["Error"]["Message"]
        raise QueryFailedError(f"Insufficient permissions to execute the query. {said}") from error
    table: dict[str, Any] = found["Table"]
    return table


def _check_properties(query: Query, properties: dict[str, Any]) -> None:
    strange = sorted(properties.keys() - _PROPERTIES)
    if strange:
        raise QueryFailedError(
            f"NOT_SUPPORTED: the table property {strange[0]} is not supported by localcloud"
        )
    for name, allowed in (
        ("format", {"PARQUET"}),
        ("table_type", {"HIVE"}),
        ("write_compression", _COMPRESSIONS),
        ("parquet_compression", _COMPRESSIONS),
    ):
        if properties.get(name, min(allowed)).upper() not in allowed:
            raise QueryFailedError(
                f"NOT_SUPPORTED: the table property {name} = '{properties[name]}' is not "
                f"supported by localcloud, only {', '.join(sorted(allowed))}"
            )
    if "external_location" in properties and query.output_is_enforced:
        raise QueryFailedError(
            "The Create Table As Select query failed because it was submitted with an "
            "'external_location' property to an Athena Workgroup that enforces a centralized "
            "output location for all queries. Please remove the 'external_location' property and "
            "resubmit the query."
        )


def _name_all(names: list[str | None]) -> list[str]:
    """Return the names of all columns, which a table or view must have."""
    known: list[str] = []
    for at, name in enumerate(names, 1):
        if name is None:
            raise QueryFailedError(
                f"MISSING_COLUMN_NAME: line 1:1: Column name not specified at position {at}"
            )
        if name in known:
            raise QueryFailedError(
                f"DUPLICATE_COLUMN_NAME: line 1:1: Column name '{name}' specified more than once"
            )
        known.append(name)
    return known


def _catalog_type(kind: DuckDBPyType) -> str:
    try:
        return write_catalog_type(kind)
    except ValueError as error:
        raise QueryFailedError(str(error)) from error


def _view_type(kind: DuckDBPyType) -> str:
    """Return the catalog's type for a column of a view, which may have types of Trino alone."""
    try:
        return write_catalog_type(kind)
    except ValueError:
        return "timestamp" if str(kind).startswith("TIMESTAMP") else "string"


def _check_empty(catalog: Catalog, target: TableName, location: str) -> None:
    place = urlsplit(location)
    if place.scheme != "s3" or not place.netloc:
        raise QueryFailedError(
            f"INVALID_TABLE_PROPERTY: External location must be a URI of S3: {location}"
        )
    try:
        found = catalog.s3.list_objects_v2(
            Bucket=place.netloc, Prefix=f"{place.path.strip('/')}/", MaxKeys=1
        )
    except ClientError as error:
        raise _denied(location) from error
    if found.get("KeyCount"):
        raise QueryFailedError(
            f"HIVE_PATH_ALREADY_EXISTS: Target directory for table "
            f"'{target.database}.{target.name}' already exists: {location}. You may need to "
            f"manually clean the data at location '{location}' before retrying. Athena will not "
            "delete data in your account."
        )


def _denied(location: str) -> QueryFailedError:
    return QueryFailedError(
        f"PERMISSION_DENIED: Access denied when writing output to url: {location} . Please ensure "
        "you are allowed to access the S3 bucket"
    )


def _fetch(
    relation: duckdb.DuckDBPyRelation, columns: list[str], types: list[str], with_data: bool
) -> pa.Table:
    """Return the rows in the catalog's types."""
    rows = (relation if with_data else relation.limit(0)).to_arrow_table()
    arrays = [
        column.cast(read_type(kind)) for column, kind in zip(rows.columns, types, strict=True)
    ]
    return pa.table(arrays, names=columns)


def _divide(rows: pa.Table, keys: list[str]) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the rows of each partition, without its keys, and the values of these."""
    if not keys:
        yield (), rows
        return
    found = rows.group_by(keys).aggregate([]).to_pylist()
    if len(found) > _MOST_PARTITIONS:
        raise QueryFailedError(
            f"HIVE_TOO_MANY_OPEN_PARTITIONS: Exceeded limit of {_MOST_PARTITIONS} open writers for "
            "partitions/buckets"
        )
    for values in found:
        masks = [
            pc.is_null(rows[key]) if value is None else pc.equal(rows[key], value)
            for key, value in values.items()
        ]
        part = rows.filter(reduce(pc.and_, masks)).drop_columns(keys)
        yield tuple(write_value(value) or NULL_PARTITION for value in values.values()), part


def _folders(keys: list[str], values: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders of a partition as Hive names them."""
    for key, value in zip(keys, values, strict=True):
        escaped = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", value)
        yield f"{key}={escaped}"


def _put(catalog: Catalog, location: str, rows: pa.Table, properties: dict[str, Any]) -> str:
    buffer, place = io.BytesIO(), urlsplit(location)
    pq.write_table(rows, buffer, compression=_compression(properties))
    try:
        catalog.s3.put_object(
            Bucket=place.netloc, Key=place.path.lstrip("/"), Body=buffer.getvalue()
        )
    except ClientError as error:
        raise _denied(location) from error
    return location


def _compression(properties: dict[str, Any]) -> str:
    asked = properties.get("write_compression") or properties.get("parquet_compression", "GZIP")
    return "NONE" if asked.upper() == "UNCOMPRESSED" else str(asked).upper()


def _make_table(
    name: str, location: str, columns: list[Any], keys: int, properties: dict[str, Any]
) -> dict[str, Any]:
    """Return the catalog's table; its last columns are the partition keys."""
    end = len(columns) - keys
    return {
        "Name": name,
        "Description": properties.get("comment", ""),
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {
            "EXTERNAL": "TRUE",
            "classification": "parquet",
            "parquet.compression": _compression(properties),
        },
        "StorageDescriptor": {
            "Columns": columns[:end],
            "Location": location,
            "InputFormat": f"{_HIVE}.MapredParquetInputFormat",
            "OutputFormat": f"{_HIVE}.MapredParquetOutputFormat",
            "SerdeInfo": {"SerializationLibrary": f"{_HIVE}.serde.ParquetHiveSerDe"},
        },
        "PartitionKeys": columns[end:],
    }


def _register(
    catalog: Catalog, target: TableName, table: dict[str, Any], places: list[tuple[str, ...]]
) -> None:
    keys = [each["Name"] for each in table["PartitionKeys"]]
    storage = table["StorageDescriptor"]
    inputs = [
        {
            "Values": list(values),
            "StorageDescriptor": {
                **storage,
                "Location": "/".join([storage["Location"], *_folders(keys, values)]),
            },
        }
        for values in places
    ]
    if inputs:  # at most 100, which are one call's
        _ask(
            lambda: catalog.glue.batch_create_partition(
                DatabaseName=target.database, TableName=target.name, PartitionInputList=inputs
            )
        )
