"""The tables and partitions that a crawl writes to the catalog, as the crawler's policies say."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

from localcloud.services.glue.crawlers.files import Columns, Folder
from localcloud.services.glue.crawlers.grouping import Found, distinguish
from localcloud.services.glue.crawlers.model import Counts
from localcloud.services.glue.crawlers.requests import read_options

_BY: Final = "UPDATED_BY_CRAWLER"
_DEPRECATED: Final = "DEPRECATED_BY_CRAWLER"
_AT_ONCE: Final = 100
_DELETED_AT_ONCE: Final = 25  # the limit of BatchDeletePartition
_HIVE: Final = "org.apache.hadoop.hive.ql.io"
_FORMATS: Final[dict[str, dict[str, Any]]] = {
    "parquet": {
        "InputFormat": f"{_HIVE}.parquet.MapredParquetInputFormat",
        "OutputFormat": f"{_HIVE}.parquet.MapredParquetOutputFormat",
        "SerdeInfo": {
            "SerializationLibrary": f"{_HIVE}.parquet.serde.ParquetHiveSerDe",
            "Parameters": {"serialization.format": "1"},
        },
    },
    "json": {
        "InputFormat": "org.apache.hadoop.mapred.TextInputFormat",
        "OutputFormat": f"{_HIVE}.HiveIgnoreKeyTextOutputFormat",
        "SerdeInfo": {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"},
    },
}
_INPUT: Final = ("Name", "Parameters", "PartitionKeys", "StorageDescriptor", "TableType")


@dataclass(slots=True)
class CatalogWriter:
    """Writes the tables of one crawl, with a client of Glue that has the crawler's role."""

    glue: Any
    settings: dict[str, Any]
    counts: Counts = field(default_factory=Counts)
    lines: list[str] = field(default_factory=list)

    def write(self, found: Found, target: str) -> str:
        """Create or update a table and its partitions; return the table's name."""
        location = "/".join((target.rstrip("/"), *found.levels)) + "/"
        root = target.rstrip("/").rpartition("/")[2]
        name = found.name(root, self.settings.get("TablePrefix") or "")
        before = self._get(name)
        if before and before["StorageDescriptor"].get("Location", "").rstrip("/") != (
            location.rstrip("/")
        ):
            name = distinguish(name, location)
            before = self._get(name)
        if before is None:
            self._create(name, found, location)
        else:
            self._update(before, found, location)
        self._write_partitions(name, found, location, self._get(name) or {})
        return name

    def remove_others(self, names: set[str]) -> None:
        """Do with tables whose files are gone what DeleteBehavior says."""
        behavior = self._policy("DeleteBehavior")
        for page in self._pages("get_tables", {}):
            for table in page["TableList"]:
                parameters = table.get("Parameters", {})
                is_own = parameters.get(_BY) == self.settings["Name"]
                if table["Name"] in names or not is_own or _DEPRECATED in parameters:
                    continue
                self._log(f"Table {table['Name']} is no longer found")
                if behavior == "DELETE_FROM_DATABASE":
                    self.glue.delete_table(DatabaseName=self._database, Name=table["Name"])
                    self.counts.deleted += 1
                elif behavior == "DEPRECATE_IN_DATABASE":
                    given = {key: table[key] for key in _INPUT if key in table}
                    stamp = {_DEPRECATED: str(int(time.time() * 1_000))}
                    given["Parameters"] = {**parameters, **stamp}
                    self.glue.update_table(DatabaseName=self._database, TableInput=given)
                    self.counts.updated += 1

    @property
    def _database(self) -> str:
        return str(self.settings["DatabaseName"])

    def _policy(self, name: str) -> str:
        return str(self.settings["SchemaChangePolicy"][name])

    def _log(self, line: str) -> None:
        self.lines.append(f"INFO : {line}")

    def _get(self, name: str) -> dict[str, Any] | None:
        try:
            found = self.glue.get_table(DatabaseName=self._database, Name=name)
        except self.glue.exceptions.EntityNotFoundException:
            return None
        table: dict[str, Any] = found["Table"]
        return table

    def _create(self, name: str, found: Found, location: str) -> None:
        given = self._make_table(name, found, location, found.columns)
        self.glue.create_table(DatabaseName=self._database, TableInput=given)
        self.counts.created += 1
        self._log(f"Created table {name} in database {self._database}")

    def _update(self, before: dict[str, Any], found: Found, location: str) -> None:
        old = {each["Name"]: each["Type"] for each in before["StorageDescriptor"]["Columns"]}
        columns = found.columns
        if "MergeNewColumns" in read_options(self.settings):
            columns = {**old, **{n: t for n, t in columns.items() if n not in old}}
        is_back = _DEPRECATED in before.get("Parameters", {})
        if columns == old and not is_back:
            return
        self._log(f"Schema change detected in table {before['Name']}")
        if self._policy("UpdateBehavior") == "UPDATE_IN_DATABASE" or is_back:
            given = self._make_table(before["Name"], found, location, columns)
            given["PartitionKeys"] = before.get("PartitionKeys", given["PartitionKeys"])
            self.glue.update_table(DatabaseName=self._database, TableInput=given)
            self.counts.updated += 1

    def _make_table(
        self, name: str, found: Found, location: str, columns: Columns
    ) -> dict[str, Any]:
        parameters = self._parameters(found.classification, found.folders)
        return {
            "Name": name,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": parameters,
            "PartitionKeys": [{"Name": key, "Type": "string"} for key in found.keys],
            "StorageDescriptor": _storage(found.classification, location, columns, parameters),
        }

    def _parameters(self, classification: str, folders: Any) -> dict[str, str]:
        objects, records, size = (
            sum(getattr(each, name) for each in folders) for name in ("objects", "records", "size")
        )
        return {
            "CrawlerSchemaDeserializerVersion": "1.0",
            "CrawlerSchemaSerializerVersion": "1.0",
            _BY: self.settings["Name"],
            "averageRecordSize": str(size // max(records, 1)),
            "classification": classification,
            "compressionType": "none",
            "objectCount": str(objects),
            "recordCount": str(records),
            "sizeKey": str(size),
            "typeOfData": "file",
        }

    def _write_partitions(
        self, name: str, found: Found, location: str, table: dict[str, Any]
    ) -> None:
        keys = table.get("PartitionKeys", [])
        if [each["Name"] for each in keys] != found.keys or not keys:
            return
        known = self._known_partitions(name)
        inherits = "InheritFromTable" in read_options(self.settings)
        own = table["StorageDescriptor"]["Columns"]
        wanted: dict[tuple[str, ...], dict[str, Any]] = {}
        for folder in found.folders:
            columns = {c["Name"]: c["Type"] for c in own} if inherits else folder.columns
            values = found.values(folder)
            wanted[tuple(values)] = self._partition(found, folder, location, values, columns)
        new = [each for values, each in wanted.items() if values not in known]
        for first in range(0, len(new), _AT_ONCE):
            self.glue.batch_create_partition(
                **self._place(name), PartitionInputList=new[first : first + _AT_ONCE]
            )
        if new:
            self._log(f"Added {len(new)} partitions to table {name}")
        self._update_partitions(name, wanted, known)
        self._delete_partitions(name, [each for each in known if each not in wanted])

    def _update_partitions(self, name: str, wanted: Any, known: Any) -> None:
        if self._policy("UpdateBehavior") != "UPDATE_IN_DATABASE":
            return
        for values, each in wanted.items():
            if values in known and each["StorageDescriptor"]["Columns"] != known[values]:
                self.glue.update_partition(
                    **self._place(name), PartitionValueList=list(values), PartitionInput=each
                )

    def _delete_partitions(self, name: str, gone: list[tuple[str, ...]]) -> None:
        new_only = self.settings["RecrawlPolicy"].get("RecrawlBehavior") == "CRAWL_NEW_FOLDERS_ONLY"
        if self._policy("DeleteBehavior") != "DELETE_FROM_DATABASE" or new_only:
            return
        for first in range(0, len(gone), _DELETED_AT_ONCE):
            some = [{"Values": list(each)} for each in gone[first : first + _DELETED_AT_ONCE]]
            self.glue.batch_delete_partition(**self._place(name), PartitionsToDelete=some)

    def _known_partitions(self, name: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
        """Return the columns of the partitions that exist, by their values."""
        return {
            tuple(each["Values"]): each["StorageDescriptor"].get("Columns", [])
            for page in self._pages("get_partitions", {"TableName": name})
            for each in page["Partitions"]
        }

    def _partition(
        self, found: Found, folder: Folder, location: str, values: list[str], columns: Columns
    ) -> dict[str, Any]:
        place = location + "/".join(folder.levels[len(found.levels) :]) + "/"
        parameters = self._parameters(found.classification, [folder])
        storage = _storage(found.classification, place, columns, parameters)
        return {"Values": values, "StorageDescriptor": storage, "Parameters": parameters}

    def _place(self, table: str) -> dict[str, str]:
        return {"DatabaseName": self._database, "TableName": table}

    def _pages(self, operation: str, more: dict[str, str]) -> Any:
        return self.glue.get_paginator(operation).paginate(DatabaseName=self._database, **more)


def _storage(
    classification: str, location: str, columns: Columns, parameters: dict[str, str]
) -> dict[str, Any]:
    return {
        **_FORMATS[classification],
        "Columns": [{"Name": name, "Type": kind} for name, kind in columns.items()],
        "Location": location,
        "Compressed": False,
        "NumberOfBuckets": -1,
        "Parameters": parameters,
        "StoredAsSubDirectories": False,
    }
