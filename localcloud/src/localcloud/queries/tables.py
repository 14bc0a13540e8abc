"""The tables of a Glue catalog, read whole, with the caller's permissions."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from botocore.exceptions import ClientError
from pyiceberg.table import StaticTable

from localcloud.iceberg_repairs import repair_pyiceberg
from localcloud.queries.information_schema import INFORMATION_SCHEMA, list_columns
from localcloud.queries.query import QueryFailedError
from localcloud.queries.row_filters import select_rows
from localcloud.queries.statement import TableName
from localcloud.queries.types import read_type
from localcloud.queries.views import View, is_view, read_view

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_HIDDEN = ("_", ".")

repair_pyiceberg()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table's rows, and the size of its files in bytes."""

    rows: pa.Table
    size: int


@dataclass(frozen=True, slots=True)
class Files:
    """S3 with somebody's permissions; `io` is for Iceberg's own reading."""

    s3: Any
    io: dict[str, str]


@dataclass(frozen=True, slots=True)
class Granted:
    """The part of a table that a caller may select: its columns, and a condition for its rows.

    None is all columns or all rows.
    """

    table: dict[str, Any]
    columns: frozenset[str] | None
    rows: str | None
    files: Files


@dataclass(frozen=True, slots=True)
class Catalog:
    """A Glue catalog and S3 with one caller's permissions.

    `find_granted` says what the caller may read of a table, or raises PermissionError with
    Athena's message.
    """

    glue: Any
    s3: Any
    find_granted: Callable[[dict[str, Any]], Granted]

    def load(self, wanted: TableName) -> Loaded | View:
        """Read a table, or the text of a view.

        Raises:
            QueryFailedError: it does not exist, must not be read, or has invalid content.
        """
        if wanted.database == INFORMATION_SCHEMA:
            return self._load_information(wanted)
        found, place = self._find_table(wanted), f"{wanted.database}.{wanted.name}"
        try:
            granted = self.find_granted(found)
        except PermissionError as error:
            raise QueryFailedError(str(error)) from error
        try:
            if is_view(found):
                return read_view(found)
            loaded = self._load(granted.table, granted.files)
            return Loaded(select_rows(loaded.rows, granted.columns, granted.rows), loaded.size)
        except ClientError as error:
            said = error.response["Error"]["Message"]
            raise QueryFailedError(f"PERMISSION_DENIED: Cannot read {place}: {said}") from error
        except (OSError, ValueError, pa.ArrowException) as error:
            raise QueryFailedError(f"HIVE_BAD_DATA: Cannot read {place}: {error}") from error

    def _load_information(self, wanted: TableName) -> Loaded:
        name = f"{wanted.database}.{wanted.name}"
        missing = f"TABLE_NOT_FOUND: {wanted.place}: Table 'awsdatacatalog.{name}' does not exist"
        if wanted.name != "columns":
            raise QueryFailedError(
                f"{missing} in localcloud, which has {INFORMATION_SCHEMA}.columns"
            )
        try:
            return Loaded(list_columns(self.glue), 0)
        except ClientError as error:
            raise _explain(error, missing) from error

    def _load(self, table: dict[str, Any], files: Files) -> Loaded:
        if table.get("Parameters", {}).get("table_type", "").upper() == "ICEBERG":
            return _load_iceberg(table, files)
        return self._load_files(table, files)

    def _find_table(self, wanted: TableName) -> dict[str, Any]:
        try:
            self.glue.get_database(Name=wanted.database)
        except ClientError as error:
            said = f"Schema '{wanted.database}' does not exist"
            raise _explain(error, f"SCHEMA_NOT_FOUND: {wanted.place}: {said}") from error
        try:
            found = self.glue.get_table(DatabaseName=wanted.database, Name=wanted.name)
        except ClientError as error:
            name = f"awsdatacatalog.{wanted.database}.{wanted.name}"
            said = f"TABLE_NOT_FOUND: {wanted.place}: Table '{name}' does not exist"
            raise _explain(error, said) from error
        table: dict[str, Any] = found["Table"]
        return table

    def _load_files(self, table: dict[str, Any], files: Files) -> Loaded:
        if table.get("Parameters", {}).get("projection.enabled") == "true":
            raise ValueError("partition projection is not supported")
        storage, keys = table["StorageDescriptor"], table.get("PartitionKeys", [])
        library = storage.get("SerdeInfo", {}).get("SerializationLibrary", "")
        read = _reader(library)
        columns = {one["Name"].lower(): read_type(one["Type"]) for one in storage["Columns"]}
        schema = pa.schema([*columns.items(), *((k["Name"], read_type(k["Type"])) for k in keys)])
        parts, size = [schema.empty_table()], 0
        for location, values in self._places(table):
            for body in _bodies(files, location):
                size += len(body)
                part = read(body, columns)
                for key, value in zip(keys, values, strict=True):
                    text = None if value == NULL_PARTITION else value
                    fixed = pa.array([text] * len(part), pa.string())
                    part = part.append_column(key["Name"], fixed.cast(read_type(key["Type"])))
                parts.append(part)
        return Loaded(pa.concat_tables(parts), size)

    def _places(self, table: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield a table's location, or those of its partitions with their values."""
        if not table.get("PartitionKeys"):
            yield table["StorageDescriptor"]["Location"], []
            return
        pages = self.glue.get_paginator("get_partitions").paginate(
            DatabaseName=table["DatabaseName"], TableName=table["Name"]
        )
        for page in pages:
            for part in page["Partitions"]:
                yield part["StorageDescriptor"]["Location"], part["Values"]


def _load_iceberg(table: dict[str, Any], files: Files) -> Loaded:
    place = str(table["Parameters"]["metadata_location"])
    if not place.startswith(("s3://", "s3a://")):
        raise ValueError(f"the metadata at {place} is not on S3")
    scan = StaticTable.from_metadata(place, files.io).scan()
    read = [one for task in scan.plan_files() for one in (task.file, *task.delete_files)]
    return Loaded(scan.to_arrow(), sum(file.file_size_in_bytes for file in read))


def _bodies(files: Files, location: str) -> Iterator[bytes]:
    place = urlsplit(location)
    prefix = place.path.strip("/")
    pages = files.s3.get_paginator("list_objects_v2").paginate(
        Bucket=place.netloc, Prefix=f"{prefix}/" if prefix else ""
    )
    for page in pages:
        for entry in page.get("Contents", []):
            if entry["Size"] and not entry["Key"].rpartition("/")[2].startswith(_HIDDEN):
                found = files.s3.get_object(Bucket=place.netloc, Key=entry["Key"])
                yield found["Body"].read()


def _reader(library: str) -> Callable[[bytes, dict[str, pa.DataType]], pa.Table]:
    if "parquet" in library.lower():
        return _read_parquet
    if "json" in library.lower():
        return _read_json
    raise ValueError(f"tables of {library or 'no SerDe'} are not supported, only Parquet and JSON")


def _read_parquet(body: bytes, columns: dict[str, pa.DataType]) -> pa.Table:
    """Read a file by the names of its columns; a missing column is null."""
    found = pq.read_table(io.BytesIO(body))
    own = {name.lower(): found.column(at) for at, name in enumerate(found.column_names)}
    arrays = [
        _convert(name, own[name], kind) if name in own else pa.nulls(len(found), kind)
        for name, kind in columns.items()
    ]
    return pa.table(arrays, names=list(columns))


def _convert(name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Convert a column to the table's type, unless Athena could not: a bigint is no double."""
    families = {_find_family(column.type), _find_family(kind)} - {None}
    if len(families) > 1:
        raise ValueError(
            f"Field {name}'s type {column.type} in parquet file is incompatible with type {kind} "
            "defined in table schema"
        )
    return column.cast(kind)


def _find_family(kind: pa.DataType) -> str | None:
    for family, fits in (
        ("whole", pa.types.is_integer),
        ("double", pa.types.is_floating),
        ("text", pa.types.is_string),
    ):
        if fits(kind):
            return family
    return None


def _read_json(body: bytes, columns: dict[str, pa.DataType]) -> pa.Table:
    """Read one object per line; a value that is not text becomes JSON in a text column."""
    rows = [
        {name.lower(): value for name, value in json.loads(line).items()}
        for line in body.decode().splitlines()
        if line.strip()
    ]
    return pa.table(
        [
            pa.array([_fit(row.get(name), kind) for row in rows], kind)
            for name, kind in columns.items()
        ],
        names=list(columns),
    )


def _fit(value: Any, kind: pa.DataType) -> Any:
    if value is None or isinstance(value, str) or not pa.types.is_string(kind):
        return value
    return json.dumps(value)


def _explain(error: ClientError, missing: str) -> QueryFailedError:
    said = error.response["Error"]
    if said["Code"] == "EntityNotFoundException":
        return QueryFailedError(missing)
    return QueryFailedError(f"Insufficient permissions to execute the query. {said['Message']}")
