"""A Glue catalog and its files in memory: one table as often as it is asked for by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField

from penstock.extensions.drift._clients import Clients
from penstock.extensions.drift._iceberg import _Catalog

DATABASE = "lake"
_FIRST = "t0000"
_NUMBERED = re.compile(r"t\d{4}")
_PAGE = 100


class StubClients(Clients):
    """Answers for table `t0000` and its copies; files of a copy differ in its name alone."""

    def __init__(self, tables: int = 1) -> None:
        super().__init__()
        self.tables = [f"t{at:04}" for at in range(tables)]
        self.entry: dict[str, Any] = {}
        self._objects: dict[str, bytes] = {}

    def get(self, service: str) -> Any:
        """Return this, which has the operations that are used."""
        return self

    def read(self, location: str) -> bytes:
        """Return an object of the first table, or its copy."""
        self.count("GetObject")
        (name,) = set(_NUMBERED.findall(location))
        return self._objects[location.replace(name, _FIRST)].replace(_FIRST.encode(), name.encode())

    def read_end(self, location: str, size: int) -> bytes:
        """Return the end of an object."""
        return self.read(location)[-size:]

    def put(self, location: str, content: bytes) -> None:
        """Store an object."""
        self.count("PutObject")
        self._objects[location] = content

    def get_table(self, **_: Any) -> dict[str, Any]:
        """Return the first table."""
        self.count("GetTable")
        return {"Table": self.entry}

    def get_database(self, **_: Any) -> dict[str, Any]:
        """Return the database."""
        return {"Database": {"Name": DATABASE, "LocationUri": "s3://bucket"}}

    def create_table(self, DatabaseName: str, TableInput: dict[str, Any]) -> None:
        """Store the first table."""
        self.entry = {**TableInput, "DatabaseName": DatabaseName, "VersionId": "1"}

    def update_table(self, TableInput: dict[str, Any], **_: Any) -> None:
        """Change the first table."""
        self.count("UpdateTable")
        self.entry |= TableInput

    def get_paginator(self, _: str) -> StubClients:
        """Return this, which has pages of tables."""
        return self

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield pages of all tables."""
        for at in range(0, len(self.tables), _PAGE):
            self.count("GetTables")
            yield {"TableList": list(map(self._copy, self.tables[at : at + _PAGE]))}

    def _copy(self, name: str) -> dict[str, Any]:
        where = self.entry["Parameters"]["metadata_location"].replace(_FIRST, name)
        parameters = {**self.entry["Parameters"], "metadata_location": where}
        return {**self.entry, "Name": name, "Parameters": parameters}


def make_tables(tables: int, files: int) -> StubClients:
    """Return a catalog of tables that each have so many files, in as many partitions."""
    clients = StubClients(tables)
    catalog: GlueCatalog = _Catalog(clients)
    schema = Schema(
        NestedField(1, "day", IntegerType(), required=False),
        NestedField(2, "value", LongType(), required=False),
    )
    table = catalog.create_table(
        (DATABASE, _FIRST),
        schema,
        partition_spec=PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day")),
        # Copies are made by replacing the name in bytes.
        properties={"write.avro.compression-codec": "null"},
    )
    days = pa.array(range(files), pa.int32())
    if files:
        table.append(pa.table({"day": days, "value": pa.array(range(files), pa.int64())}))
    clients.calls.clear()
    return clients
