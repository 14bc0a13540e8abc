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
import math
import secrets
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.errors import (
    Failure,
    InvalidSchemaError,
    PenstockError,
    Reason,
    SchemaError,
    UnroutableError,
)
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import Schema, canonical_form, check_schema, encode, merge_schemas
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import FrameStatus
from penstock.spark.decoding.reader_schema import Place, Reader, write_reader
from penstock.spark.decoding.reader_sql import find_invalid_text, find_lossy, write_value
from penstock.spark.rows import name_event

Versions = Sequence[SchemaVersion]

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
# Never true, but Spark cannot know that. So Spark does not push a filter by status down to where
# each reference to the record would decode it again.
_STAYS_HERE: Final = "spark_partition_id() < 0"
_HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class RowStatus(StrEnum):
    """The status of a framed record that has no `Reason` to be given up."""

    DECODED = "decoded"
    UNKNOWN = "unknown"  # a version that this decoder does not know
    LATER = "later"  # compressed: it is written with the next part
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
        self._status: Column = F.expr(self._write_status())
        write = write_value if self._columns is None else self._columns.write_event
        event = F.expr(write(self._root, "record.body"))
        self._event: Column = name_event(event, self.schema)

    def decode(self, frames: DataFrame) -> DataFrame:
        """Add the columns `version` and `record` to frames, and update their `status`."""
        return (
            frames.withColumn("version", self._known)
            .withColumn("record", self._record)
            .withColumn("status", self._status)
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
        faults = {
            find_invalid_text(self._root, "record.body"): Reason.INVALID_TEXT,
            find_lossy(self._root, "record.body"): Reason.LOSSY_WIDENING,
        }
        cases = [f"WHEN {sql} THEN '{reason}'" for sql, reason in faults.items() if sql]
        if self._columns and (empty := self._columns.find_empty(self._root, "record.body")):
            cases.append(f"WHEN {empty} THEN '{RowStatus.EMPTY}'")
        return f"""
            CASE WHEN {_STAYS_HERE} THEN status
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


def find_versions(
    registries: Registries, keys: Iterable[SchemaKey], max_refused: float = math.inf
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Look up schema versions; return those found, and why others cannot be used.

    Keys after `max_refused` that cannot be used are not looked up, and are in neither.

    Raises:
        PenstockError: an answer is not final.
    """
    found: list[SchemaVersion] = []
    refused: dict[SchemaKey, Failure] = {}
    for key in keys:
        if len(refused) >= max_refused:
            break
        try:
            found.append(registries.find(key))
        except PenstockError as error:
            refused[key] = Failure.of(error)
    return found, refused


def admit_versions(
    spark: SparkSession,
    found: Iterable[SchemaVersion],
    beside: Callable[[SchemaVersion, Versions], Versions],
    columns: Projection | None = None,
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Check versions, older ones first; return those that can be used, and why others cannot.

    `beside` returns the versions that share a table with a version; it is given the version and
    those admitted so far. `columns` are those of a staged table.
    """
    admitted: list[SchemaVersion] = []
    refused: dict[SchemaKey, Failure] = {}
    for version in sorted(found, key=lambda each: each.number):
        try:
            admit(spark, beside(version, admitted), version, columns)
        except PenstockError as error:
            refused[version.key] = Failure.of(error)
        else:
            admitted.append(version)
    return admitted, refused


def admit(
    spark: SparkSession,
    known: Iterable[SchemaVersion],
    version: SchemaVersion,
    columns: Projection | None = None,
) -> None:
    """Check a version, alone and together with the known versions, and for columns.

    Raises:
        RecursiveSchemaError, SchemaLimitError, InvalidSchemaError: it is invalid, exceeds a limit,
            or cannot be read by Spark.
        SchemaConflictError: it contradicts a known version, two fields would be one column, or it
            has none of the chosen fields.
        UnroutableError: its values are not events.
    """
    where = f"schema version {version.key} of {version.name}"
    try:
        check_schema(version.schema)
        if not isinstance(version.schema, dict) or version.schema["type"] != "record":
            raise UnroutableError(f"{where}: found no record, expected an event")
        merged = merge_schemas([*(each.schema for each in known), version.schema])
        if columns is not None:
            for schema in (merge_schemas([version.schema]), merged):
                EventColumns(columns, schema).schema()
        _try_in_java(spark, merged, version.schema)
    except SchemaError as error:
        raise type(error)(f"{where}: {error}") from error


def _try_in_java(spark: SparkSession, merged: Schema, schema: Schema) -> None:
    """Resolve a version with Spark and Avro for Java, as a decoder would."""
    writer, reader = write_schemas(merged, [schema])
    jvm: Any = spark.sparkContext._jvm
    find = partial(getattr, jvm)  # by whole names: for each package, py4j would search every jar
    try:
        parsed = [find("org.apache.avro.Schema$Parser")().parse(text) for text in (writer, reader)]
        renamed = find("org.apache.avro.Schema").applyAliases(*parsed)
        decoders = find("org.apache.avro.io.DecoderFactory").get()
        decoders.resolvingDecoder(renamed, parsed[1], None)
        find("org.apache.spark.sql.avro.SchemaConverters").toSqlType(parsed[1])
    except (Py4JJavaError, PySparkException) as error:
        cause = getattr(error, "java_exception", error)
        raise InvalidSchemaError(
            f"Spark cannot read {canonical_form(schema)[:200]}: {str(cause).splitlines()[0]}"
        ) from error
