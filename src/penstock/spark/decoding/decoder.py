"""Decode records of any number of schema versions to columns, with one expression.

Avro reads a union of writer schemas into a reader schema that is not a union. It encodes a union's
value as the number of the branch, then the value. So the known versions form one union, and the
number of its version is put in front of each payload (docs/adr/20261121-union-decode.md). Eight
random bytes are appended, which nobody can guess; they are read as the last field:

| the last field         | the record                                             |
| ---------------------- | ------------------------------------------------------ |
| is these eight bytes   | is a value of its schema                               |
| is other bytes         | has bytes after its value                              |
| is null                | is not a value of its schema: Spark returns only nulls |
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.errors import Reason
from penstock.records import Projection
from penstock.registry import SchemaVersion
from penstock.schemas import Schema, encode, merge_schemas
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import STAYS_HERE, FrameStatus
from penstock.spark.decoding.reader_schema import Place, Reader, write_reader
from penstock.spark.decoding.reader_sql import (
    find_invalid_text,
    find_lossy,
    measure_width,
    write_value,
)
from penstock.spark.rows import name_event

_END_SIZE: Final = 8
_OWN: Final = (
    "topic AS _topic",
    "partition AS _kafka_partition",
    "offset AS _offset",
    "timestamp AS _kafka_timestamp",
    "version.id AS _schema_id",
    "version.number AS _schema_version",
    "key AS _key",
    "value AS _value",
)
_INVALID_TEXT: Final = "_invalid_text"
_HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class RowStatus(StrEnum):
    """The status of a framed record that has no `Reason` to be given up."""

    DECODED = "decoded"
    UNKNOWN = "unknown"  # a version that this decoder does not know
    LATER = "later"  # compressed, and not inflated yet
    ELSEWHERE = "elsewhere"  # its schema is routed to another table
    EMPTY = "empty"  # all columns that are chosen for its table are empty


class Decoder:
    """Decodes the versions that it was built with; used for every batch until there are more.

    Building it needs a running Spark session. With `columns`, events are those of a staged table,
    and frames have the column `staging_time`.

    Raises (when built):
        SchemaConflictError: the versions contradict each other.
        InvalidSchemaError: Spark cannot tell two types of a version apart.
    """

    def __init__(
        self, versions: Sequence[SchemaVersion], columns: Projection | None = None
    ) -> None:
        self.versions = tuple(versions)
        merged = merge_schemas([each.schema for each in versions])
        self._columns = None if columns is None else EventColumns(columns, merged)
        self.schema = merged if self._columns is None else self._columns.schema()
        self._root, writers, reader = _write(merged, [each.schema for each in versions])
        self._end = secrets.token_bytes(_END_SIZE).hex()
        payload = F.expr(f"concat(version.prefix, payload, X'{self._end}')")
        self._known: Column = F.expr(f"try_element_at({self._versions()}, schema)")
        self._record: Column = from_avro(
            payload, writers, {"mode": "PERMISSIVE", "avroSchema": reader}
        )
        # Outside the status, where it would only be evaluated under a condition and inline.
        invalid_text = find_invalid_text(self._root, "record.body") or "FALSE"
        self._invalid_text: Column = F.expr(f"{STAYS_HERE} OR {invalid_text}")
        self._status: Column = F.expr(self._write_status())
        write = write_value if self._columns is None else self._columns.write_event
        event = F.expr(write(self._root, "record.body"))
        self._event: Column = name_event(event, self.schema)

    @property
    def width(self) -> int:
        """Return the number of values in a record, which the generated code grows with."""
        return measure_width(self._root)

    def decode(self, frames: DataFrame) -> DataFrame:
        """Add the columns `version` and `record` to frames, and update their `status`."""
        return (
            frames.withColumn("version", self._known)
            .withColumn("record", self._record)
            .withColumn(_INVALID_TEXT, self._invalid_text)
            .withColumn("status", self._status)
            .drop(_INVALID_TEXT)
        )

    def select(self, decoded: DataFrame) -> DataFrame:
        """Return the rows of decoded records, with the columns of `penstock.spark.rows`."""
        return self.project(decoded.filter(F.col("status") == RowStatus.DECODED.value))

    def project(self, decoded: DataFrame, *more: Column) -> DataFrame:
        """Select the columns of `penstock.spark.rows`, followed by `more`."""
        headers = "headers" if "headers" in decoded.columns else f"CAST(NULL AS {_HEADERS})"
        own = (*_OWN, f"{headers} AS _headers")
        return decoded.select(self._event, *map(F.expr, own), *more)

    def _versions(self) -> str:
        entries = [
            f"X'{each.key.pack().hex()}', named_struct('prefix', X'{encode(at, 'int').hex()}', "
            f"'number', {each.number}, 'id', '{each.key}')"
            for at, each in enumerate(self.versions)
        ]
        return f"map({', '.join(entries)})"

    def _write_status(self) -> str:
        cases = [f"WHEN {_INVALID_TEXT} THEN '{Reason.INVALID_TEXT}'"]
        if lossy := find_lossy(self._root, "record.body"):
            cases.append(f"WHEN {lossy} THEN '{Reason.LOSSY_WIDENING}'")
        if self._columns and (empty := self._columns.find_empty(self._root, "record.body")):
            cases.append(f"WHEN {empty} THEN '{RowStatus.EMPTY}'")
        return f"""
            CASE WHEN {STAYS_HERE} THEN status
                 WHEN status <> '{FrameStatus.FRAMED}' THEN status
                 WHEN version IS NULL THEN '{RowStatus.UNKNOWN}'
                 WHEN record.end IS NULL THEN '{Reason.UNDECODABLE}'
                 WHEN record.end <> X'{self._end}' THEN '{Reason.TRAILING_BYTES}'
                 {" ".join(cases)} ELSE '{RowStatus.DECODED}' END"""


def write_schemas(merged: Schema, versions: Sequence[Schema]) -> tuple[str, str]:
    """Return the schemas that Avro needs: the union of the versions, and the reader schema.

    Raises:
        InvalidSchemaError: a union of a version holds two types that become one in the merge.
    """
    _, writers, reader = _write(merged, versions)
    return writers, reader


def _write(merged: Schema, versions: Sequence[Schema]) -> tuple[Place, str, str]:
    reader = Reader(merged)
    writers = [reader.add(at, each) for at, each in enumerate(versions)]
    return reader.root, _with_end(writers), _with_end(write_reader(reader.root))


def _with_end(body: object) -> str:
    """Return a record schema that holds a body and the random bytes at its end."""
    end = {"type": "fixed", "name": "End", "size": _END_SIZE}
    fields = [{"name": "body", "type": body}, {"name": "end", "type": end}]
    return json.dumps({"type": "record", "name": "Ended", "fields": fields})
