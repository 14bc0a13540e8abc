"""Clients of Glue, S3 and DynamoDB that count their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from penstock.attempts import Attempts
from penstock.aws import Fault, classify, translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import OperationError, SinkUnavailableError
from penstock.tables import TABLE_INPUT, Column, Struct, lower_type, parse_type

THREADS: Final = 16
_CONFIG: Final = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"mode": "standard", "total_max_attempts": 5},
    max_pool_connections=THREADS,
)
_IS_CURRENT: Final = "iceberg.field.current"
ATTEMPTS: Final = Attempts(first_seconds=0.1, longest_seconds=2, total_seconds=60, jitter=True)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object on S3, and when it was written."""

    location: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class GlueTable:
    """A table of the Glue catalog, as the API returns it."""

    found: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return DATABASE.TABLE."""
        return f"{self.found['DatabaseName']}.{self.found['Name']}"

    @property
    def metadata_location(self) -> str | None:
        """Return the location of Iceberg's metadata; None for a table of plain files.

        Raises:
            OperationError: an Iceberg table has none.
        """
        parameters = self.found.get("Parameters", {})
        if parameters.get("table_type", "").upper() != "ICEBERG":
            return None
        if "metadata_location" not in parameters:
            raise OperationError(f"{self.name} is an Iceberg table without a metadata_location")
        return str(parameters["metadata_location"])

    @property
    def location(self) -> str:
        """Return the folder of the files.

        Raises:
            OperationError: it has no files, as a view.
        """
        location = self.storage.get("Location")
        if not location:
            raise OperationError(f"{self.name} has no files, expected a table and no view")
        return str(location)

    @property
    def partition_keys(self) -> list[str]:
        """Return the names of the columns that are in the names of folders."""
        return [each["Name"].lower() for each in self.found.get("PartitionKeys", ())]

    @property
    def columns(self) -> Struct:
        """Return the columns; Iceberg's catalogs keep dropped ones there, which are left out."""
        return read_glue_columns(self.storage.get("Columns", ()))

    @property
    def storage(self) -> Mapping[str, Any]:
        """Return the storage descriptor; a view has none."""
        storage: Mapping[str, Any] = self.found.get("StorageDescriptor", {})
        return storage


def read_glue_columns(columns: Sequence[Mapping[str, Any]]) -> Struct:
    """Return columns of the Glue API, with names in lower case."""
    return Struct(
        tuple(
            Column(each["Name"].lower(), lower_type(parse_type(each["Type"])))
            for each in columns
            if each.get("Parameters", {}).get(_IS_CURRENT) != "false"
        )
    )


class Clients:
    """The services that hold tables, with the process's credentials; for several threads.

    `calls` counts the calls of each operation. Clients are built on first use.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._clients: dict[str, Any] = {}
        self._counting = Lock()

    def get(self, service: str) -> Any:
        """Return the client of a service; the first use in one thread builds it.

        Raises:
            OperationError: the AWS configuration is incomplete.
        """
        if service not in self._clients:
            try:
                client = load_session().create_client(service, config=_CONFIG)
            except BotoCoreError as error:
                said = str(error).rstrip(".")
                raise OperationError(f"the client of {service} cannot be built: {said}") from error
            client.meta.events.register("request-created", self._count_request)
            self._clients[service] = client
        return self._clients[service]

    def _count_request(self, operation_name: str, **_: Any) -> None:
        self.count(operation_name)

    def count(self, operation: str) -> None:
        """Count a call of an operation."""
        with self._counting:
            self.calls[operation] += 1

    def find_tables(self, names: Sequence[str]) -> dict[str, GlueTable]:
        """Return the tables that exist, by DATABASE.TABLE.

        Several tables of a database are read by pages of 100 tables.
        """
        found: dict[str, GlueTable] = {}
        wanted: dict[str, set[str]] = {}
        for name in names:
            database, _, table = name.partition(".")
            wanted.setdefault(database, set()).add(table)
        for database, tables in wanted.items():
            for each in self._list_tables(database, tables):
                found[f"{database}.{each['Name']}"] = GlueTable(each)
        return found

    def _list_tables(self, database: str, tables: set[str]) -> Iterator[dict[str, Any]]:
        with translated_glue_errors(f"database {database} cannot be read"):
            if len(tables) == 1:
                (table,) = tables
                try:
                    yield self.get("glue").get_table(DatabaseName=database, Name=table)["Table"]
                except ClientError as error:
                    if classify(error) is not Fault.MISSING:
                        raise
                return
            pages = self.get("glue").get_paginator("get_tables").paginate(DatabaseName=database)
            for page in pages:
                yield from (each for each in page["TableList"] if each["Name"] in tables)

    def list_partitions(self, table: GlueTable) -> Iterator[dict[str, Any]]:
        """Yield the partitions of a table as the API returns them, by pages."""
        if not table.partition_keys:
            return
        with translated_glue_errors(f"partitions of {table.name} cannot be read"):
            pages = self.get("glue").get_paginator("get_partitions")
            found = pages.paginate(
                DatabaseName=table.found["DatabaseName"], TableName=table.found["Name"]
            )
            for page in found:
                yield from page["Partitions"]

    def set_columns(self, table: GlueTable, columns: Sequence[Mapping[str, Any]]) -> bool:
        """Replace a table's columns; return False if it was changed since it was read."""
        entry = {name: table.found[name] for name in TABLE_INPUT if name in table.found}
        entry["StorageDescriptor"] = {**entry["StorageDescriptor"], "Columns": list(columns)}
        version = {"VersionId": table.found["VersionId"]} if "VersionId" in table.found else {}
        with translated_glue_errors(f"{table.name} cannot be changed"):
            try:
                self.get("glue").update_table(
                    DatabaseName=table.found["DatabaseName"], TableInput=entry, **version
                )
            except ClientError as error:
                if classify(error) is not Fault.CONFLICT:
                    raise
                return False
        return True

    def read(self, location: str) -> bytes:
        """Return an object."""
        return self._get_object(location)

    def read_end(self, location: str, size: int) -> bytes:
        """Return the last bytes of an object, in one call."""
        return self._get_object(location, Range=f"bytes=-{size}")

    def _get_object(self, location: str, **more: str) -> bytes:
        with translated_s3_errors(f"{location} cannot be read"):
            answer = self.get("s3").get_object(**_split(location), **more)
            content: bytes = answer["Body"].read()
        return content

    def put(self, location: str, content: bytes) -> None:
        """Write an object."""
        with translated_s3_errors(f"{location} cannot be written"):
            self.get("s3").put_object(**_split(location), Body=content)

    def delete(self, location: str) -> None:
        """Delete an object."""
        with translated_s3_errors(f"{location} cannot be deleted"):
            self.get("s3").delete_object(**_split(location))

    def list_files(self, folder: str) -> Iterator[StoredObject]:
        """Yield the objects in a folder that are not hidden, by pages of 1,000."""
        place = _split(folder.rstrip("/") + "/")
        with translated_s3_errors(f"{folder} cannot be listed"):
            pages = self.get("s3").get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=place["Bucket"], Prefix=place["Key"]):
                for each in page.get("Contents", ()):
                    inside = each["Key"].removeprefix(place["Key"]).split("/")
                    if each["Size"] and not any(part.startswith(("_", ".")) for part in inside):
                        where = f"s3://{place['Bucket']}/{each['Key']}"
                        yield StoredObject(where, each["LastModified"])


def _split(location: str) -> dict[str, str]:
    bucket, _, key = location.partition("://")[2].partition("/")
    return {"Bucket": bucket, "Key": key}


@contextmanager
def translated_glue_errors(problem: str) -> Iterator[None]:
    """Translate errors of Glue's or DynamoDB's client; the message is `<problem>: <reason>`.

    Raises:
        SinkUnavailableError: the service is throttling or down (retriable).
        OperationError: any other error.
    """
    try:
        yield
    except (ClientError, BotoCoreError, ResponseParserError) as error:
        is_down = classify(error) in {Fault.THROTTLED, Fault.DOWN, Fault.CONFLICT}
        kind = SinkUnavailableError if is_down else OperationError
        raise kind(f"{problem}: {str(error).rstrip('.')}") from error
