"""The Iceberg table that a channel makes in S3 Tables, and its one schema.

Amazon MSK Developer Guide, "Delivery stops after a schema change (Iceberg)". The table is made from
the schema of the channel's creation, or of the first record. Nothing is delivered while the newest
schema is another one, or of a partition whose next record has another one: assumption
`channel-stop`.
"""

from __future__ import annotations

import functools
import uuid
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from botocore.exceptions import ClientError
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table import CommitTableResponse, StagedTable, Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.transforms import HourTransform
from pyiceberg.types import TimestamptzType

from localcloud.iceberg_repairs import repair_pyiceberg
from localcloud.identity.permissions import may
from localcloud.services.kafka.channels.columns import SchemaError, read_schema
from localcloud.services.kafka.channels.model import (
    Channel,
    ChannelFailedError,
    ChannelStoppedError,
    ChannelSuspendedError,
    Delivery,
    FailedRecord,
    Record,
)
from localcloud.services.kafka.channels.objects import write_dead_letters
from localcloud.services.kafka.channels.rows import RowError, read_row

repair_pyiceberg()

_FRAME_VERSION, _FRAME_SIZE = 3, 18
_PLAIN, _ZLIB = 0, 5
_UNKNOWN = "EntityNotFoundException"


class TableWriter:
    """Delivers to one Iceberg table; `endpoint` is where its files are written."""

    def __init__(self, channel: Channel, endpoint: str) -> None:
        self._channel = channel
        self._endpoint = endpoint
        (self._named,) = channel.destination["DestinationTableList"]
        self._column = self._named["PartitionSpec"]["SourceList"][0]["SourceName"]
        self._bucket = channel.destination["Catalog"]["WarehouseLocation"]
        self._definition = ""
        self._schema = Schema()

    def open(self, open_client: Callable[[str], Any]) -> None:
        """Look at the table bucket, and make the table if the schema is known."""
        open_client("s3tables").get_table_bucket(tableBucketARN=self._bucket)
        if self._channel.converter == "JSON":
            self._make_table(self._read_newest(open_client), open_client)

    def deliver(self, records: Iterable[Record], open_client: Callable[[str], Any]) -> Delivery:
        """Append the records to the table, except those that do not conform to the schema."""
        delivery = Delivery()
        values = self._read_values(records, delivery, open_client)
        rows = []
        for record, value in values:
            try:
                rows.append(read_row(value, self._schema))
            except RowError as error:
                delivery.failed.append(FailedRecord(record, error.code, str(error)))
        self._check_column()
        table = self._load(open_client) if self._definition else None
        write_dead_letters(self._channel, delivery.failed, open_client)
        if rows and table is not None:
            table.append(pa.Table.from_pylist(rows, schema=schema_to_pyarrow(self._schema)))
            self._channel.count("CommitSuccess", 1)
        delivery.delivered = len(rows)
        return delivery

    def _read_values(
        self, records: Iterable[Record], delivery: Delivery, open_client: Callable[[str], Any]
    ) -> list[tuple[Record, bytes | None]]:
        """Return the records with their JSON, up to the first with another schema.

        Raises:
            ChannelStoppedError: the newest schema is not that of the table.
        """
        if self._channel.converter == "JSON":
            newest = self._read_newest(open_client)
            if newest["SchemaDefinition"] != self._definition:
                self._stop(f"version {newest['VersionNumber']} of {newest['SchemaArn']}")
            return [(record, record.value) for record in records]
        read = functools.cache(
            lambda id_: open_client("glue").get_schema_version(SchemaVersionId=id_)
        )
        found: list[tuple[Record, bytes | None]] = []
        held: set[int] = set()
        for record in records:
            if record.partition in held:
                delivery.waiting.append(record)
                continue
            try:
                value = self._open_frame(record, read, open_client)
            except RowError as error:
                delivery.failed.append(FailedRecord(record, error.code, str(error)))
            except ChannelStoppedError as error:
                delivery.problem = str(error)
                delivery.waiting.append(record)
                held.add(record.partition)
            else:
                found.append((record, value))
        return found

    def _open_frame(
        self,
        record: Record,
        read_version: Callable[[str], dict[str, Any]],
        open_client: Callable[[str], Any],
    ) -> bytes:
        """Return the JSON of a record with the id of its schema.

        Raises:
            RowError: it has no such id, or one that the registry does not know.
            ChannelStoppedError: its schema is not that of the table.
        """
        frame = record.value or b""
        if (
            len(frame) < _FRAME_SIZE
            or frame[0] != _FRAME_VERSION
            or frame[1] not in (_PLAIN, _ZLIB)
        ):
            raise RowError("SchemaResolutionFailure", "the value has no id of a Glue schema")
        version_id = str(uuid.UUID(bytes=frame[2:_FRAME_SIZE]))
        try:
            version = read_version(version_id)
        except ClientError as error:
            if error.response["Error"]["Code"] != _UNKNOWN:
                raise
            raise RowError("SchemaResolutionFailure", f"no schema version {version_id}") from error
        if not self._definition:
            self._make_table(version, open_client)
        if version["SchemaDefinition"] != self._definition:
            where = f"offset {record.offset} of partition {record.partition}"
            self._stop(f"version {version['VersionNumber']} of {version['SchemaArn']} at {where}")
        try:
            data = frame[_FRAME_SIZE:]
            return zlib.decompress(data) if frame[1] == _ZLIB else data
        except zlib.error as error:
            raise RowError("MalformedRecord", f"the value is not compressed: {error}") from error

    def _stop(self, found: str) -> None:
        raise ChannelStoppedError(
            f"Schema resolution error: found {found}, whose schema is not the one that the table "
            "was made with; schema evolution is not supported"
        )

    def _read_newest(self, open_client: Callable[[str], Any]) -> dict[str, Any]:
        version: dict[str, Any] = open_client("glue").get_schema_version(
            SchemaId={"SchemaArn": self._channel.source["RecordSchema"]["GsrArn"]},
            SchemaVersionNumber={"LatestVersion": True},
        )
        return version

    def _make_table(self, version: dict[str, Any], open_client: Callable[[str], Any]) -> None:
        if version["DataFormat"] != "JSON":
            raise ChannelFailedError("InvalidSchema", f"{version['SchemaArn']} is no JSON schema")
        try:
            self._schema = read_schema(version["SchemaDefinition"], self._column)
        except SchemaError as error:
            raise ChannelFailedError("InvalidSchema", str(error)) from error
        if self._column not in self._schema.column_names:
            raise ChannelFailedError("InvalidSchema", f"the schema has no field {self._column}")
        self._definition = version["SchemaDefinition"]
        if isinstance(self._schema.find_type(self._column), TimestamptzType):
            self._catalog(open_client).make(self._schema, self._column)

    def _check_column(self) -> None:
        if self._definition:
            kind = self._schema.find_type(self._column)
            if not isinstance(kind, TimestamptzType):
                raise ChannelSuspendedError(
                    f"the column {self._column} is {kind}, which has no hours to partition by"
                )

    def _load(self, open_client: Callable[[str], Any]) -> Table:
        for action in ("s3tables:GetTableData", "s3tables:PutTableData"):
            arn = f"{self._bucket}/table/{self._named['DestinationTableName']}"
            if not may(self._channel.role_arn, action, arn):
                raise ChannelStoppedError(
                    f"AccessDenied: {self._channel.role_arn} may not {action} on {arn}"
                )
        try:
            return self._catalog(open_client).load()
        except ClientError as error:
            if error.response["Error"]["Code"] != "NotFoundException":
                raise
            raise ChannelSuspendedError("the table of the channel was deleted") from error

    def _catalog(self, open_client: Callable[[str], Any]) -> _TableCatalog:
        cluster = self._channel.cluster
        table = {
            "tableBucketARN": self._bucket,
            "namespace": self._named["DestinationDatabaseName"],
            "name": self._named["DestinationTableName"],
        }
        codec = self._channel.destination.get("CompressionType", "ZSTD").lower()
        files = {
            "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
            "s3.endpoint": self._endpoint,
            "s3.region": cluster.region,
            "s3.access-key-id": cluster.account,
            "s3.secret-access-key": "localcloud",
        }
        return _TableCatalog(open_client("s3tables"), table, files, codec)


class _TableCatalog(NoopCatalog, MetastoreCatalog):
    """One table of S3 Tables, as pyiceberg commits to a catalog."""

    def __init__(
        self, s3tables: Any, table: dict[str, str], files: dict[str, str], codec: str
    ) -> None:
        super().__init__("s3tables", **files)
        self._s3tables = s3tables
        self._table = table
        self._identifier = (table["namespace"], table["name"])
        self._codec = codec

    def make(self, schema: Schema, column: str) -> None:
        """Make the table, with partitions of an hour, and its namespace if that is missing."""
        place = {"tableBucketARN": self._table["tableBucketARN"]}
        try:
            self._s3tables.create_namespace(**place, namespace=[self._table["namespace"]])
        except self._s3tables.exceptions.ConflictException:
            pass
        try:
            self._s3tables.create_table(**self._table, format="ICEBERG")
        except self._s3tables.exceptions.ConflictException as error:
            said = f"the table {'.'.join(self._identifier)} exists already; a channel makes its own"
            raise ChannelFailedError("TableAlreadyExists", said) from error
        source = schema.find_field(column).field_id
        hours = PartitionField(source, 1000, HourTransform(), f"{column}_hour")
        found = self._s3tables.get_table(**self._table)
        staged = self._create_staged_table(
            self._identifier,
            schema,
            location=found["warehouseLocation"],
            partition_spec=PartitionSpec(hours),
            properties={"write.parquet.compression-codec": self._codec},
        )
        self._write(staged, found["versionToken"])

    def load(self) -> Table:
        """Return the table as it is now."""
        found = self._s3tables.get_table_metadata_location(**self._table)
        location = found["metadataLocation"]
        io = self._load_file_io(location=location)
        metadata = FromInputFile.table_metadata(io.new_input(location))
        return Table(self._identifier, metadata, location, io, self)

    def commit_table(
        self,
        table: Table,
        requirements: tuple[TableRequirement, ...],
        updates: tuple[TableUpdate, ...],
    ) -> CommitTableResponse:
        """Write new metadata and point the table to it, if nobody did so meanwhile."""
        token = self._s3tables.get_table_metadata_location(**self._table)["versionToken"]
        staged = self._update_and_stage_table(table, self._identifier, requirements, updates)
        self._write(staged, token)
        made = {"metadata": staged.metadata, "metadata-location": staged.metadata_location}
        return CommitTableResponse.model_validate(made)

    def _write(self, staged: StagedTable, token: str) -> None:
        """Write metadata, and point the table to it if its token is still the same."""
        # Not asked if the file exists: its name is new, and a table bucket cannot be listed.
        file = staged.io.new_output(staged.metadata_location)
        ToOutputFile.table_metadata(staged.metadata, file, overwrite=True)
        self._s3tables.update_table_metadata_location(
            **self._table, versionToken=token, metadataLocation=staged.metadata_location
        )
