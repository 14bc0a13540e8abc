"""Rows in a DynamoDB table: the same rows and dead letters as the consumer function writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from pyspark.sql import DataFrame

from penstock.consuming import AfterWrite, ErrorSink, SchemaReaders
from penstock.errors import Reason
from penstock.records import READING, KeyFormat, Projection, RowShape, Tombstone
from penstock.registry import Registries, RegistrySettings
from penstock.settings import parse_positive, setting
from penstock.sinks import DynamoDbClient, RowWriter, open_table
from penstock.spark.sinks.base import Capabilities, KindSettings, Part, Sink, SinkContext, SinkKind
from penstock.spark.sinks.records import write_rows


@dataclass(frozen=True, slots=True)
class DynamoDbSettings(KindSettings):
    """The DynamoDB table of a job."""

    NAMES: ClassVar = ("dynamodb_table",)

    dynamodb_table: str = setting(
        "PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows", default=""
    )
    dynamodb_rows_per_second: float | None = setting(
        "PENSTOCK_DYNAMODB_ROWS_PER_SECOND",
        "limit of rows per second written to DynamoDB, a number above 0 [no limit]",
        parse=parse_positive,
        default=None,
    )


@dataclass(frozen=True, slots=True)
class DynamoDbTable(Sink):
    """A DynamoDB table; it is sent to the executors.

    A tombstone whose key names no row is a dead letter. A deleted row keeps its key and order, so
    that an older record that arrives later does not restore it.

    Attributes:
        table: its name.
        errors: a sink for records that it rejects.
        shape: the form of its rows.
        columns: the fields that are columns; without it, all are.
        rows_per_second: a limit for all executors together; None leaves it to the table.
        key_schemas: the registries of Avro keys.
        after_write: takes the rows that the table has.
    """

    table: str
    errors: ErrorSink
    shape: RowShape = READING
    columns: Projection | None = None
    rows_per_second: float | None = None
    key_schemas: RegistrySettings | None = None
    after_write: AfterWrite | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Return that the sink reads records, and whether tombstones delete rows."""
        return Capabilities(reads_records=True, deletes=self.shape.tombstone is Tombstone.DELETE)

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write or delete a row for every record; a batch that comes again writes the same rows.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be written; writing all of them
                again is idempotent.
        """
        return write_rows(self, rows, part)

    def open_writer(self) -> RowWriter:
        """Return the table's writer; those of a Python process, which runs one task, share it."""
        return _connect(self.table, self.shape)

    def load_keys(self) -> SchemaReaders:
        """Return the readers of Avro keys for one task."""
        return SchemaReaders(_load_registries(self.key_schemas))


def _open(settings: DynamoDbSettings, context: SinkContext) -> DynamoDbTable:
    is_avro = context.shape.key_format is KeyFormat.AVRO
    return DynamoDbTable(
        settings.dynamodb_table,
        context.errors,
        context.shape,
        context.columns,
        settings.dynamodb_rows_per_second,
        context.schemas if is_avro else None,
        context.after_write,
    )


# The keys of rows follow from their records, so a replay writes the same rows.
DYNAMODB = SinkKind("dynamodb", DynamoDbSettings, _open, _open)


@cache
def _connect(table: str, shape: RowShape) -> RowWriter:
    return open_table(open_client(), table, shape)


@cache
def open_client() -> DynamoDbClient:
    """Return the client of this process."""
    return DynamoDbClient()


@cache
def _load_registries(settings: RegistrySettings | None) -> Registries:
    return settings.load() if settings else Registries([])
