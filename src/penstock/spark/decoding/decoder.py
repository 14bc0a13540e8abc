"""Records of any number of versions to columns, by one expression.

Why it is done so is in docs/adr/20261121-union-decode.md.

Avro reads a union of writers into a reader that is none, and a union's value is the number of its
branch and then the value. So the versions that are known become one union, and each payload gets
the number of its version put in front. Behind it go eight bytes that nobody can guess: they are
read as the last field, and tell apart

| the last field         | the record                                             |
| ---------------------- | ------------------------------------------------------ |
| is these eight bytes   | is a value of its schema                               |
| is other bytes         | has bytes behind its value                             |
| is null                | is no value of its schema: Spark gives nulls throughout |
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.errors import InvalidSchemaError, Reason, SchemaError, UnroutableError
from penstock.registry import SchemaVersion
from penstock.schemas import Schema, canonical_form, check_schema, encode, merge_schemas
from penstock.spark.decoding.frames import FrameStatus
from penstock.spark.decoding.reader_schema import Place, Reader, write_reader
from penstock.spark.decoding.reader_sql import find_invalid_text, find_lossy, write_value
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
# Never true, and Spark cannot know: so it moves no filter by status below, where each mention of
# the record would decode it once more.
_STAYS_HERE: Final = "monotonically_increasing_id() < 0"
_HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class RowStatus(StrEnum):
    """What became of a framed record, where no `Reason` stands against it."""

    DECODED = "decoded"
    UNKNOWN = "unknown"  # a version that this decoder does not know
    LATER = "later"  # compressed: it comes in the next part
    ELSEWHERE = "elsewhere"  # of a schema that another table takes


class Decoder:
    """Decodes the versions it was built with; built once and used for every batch until they grow.

    Raises (when built):
        SchemaConflictError: the versions contradict each other.
        InvalidSchemaError: Spark cannot tell two types of a version apart.
    """

    def __init__(self, versions: Sequence[SchemaVersion]) -> None:
        """Build the expressions; needs a Spark session that runs."""
        self.versions = tuple(versions)
        self.schema = merge_schemas([each.schema for each in versions])
        self._root, writers, reader = _write(self.schema, [each.schema for each in versions])
        self._end = secrets.token_bytes(_END_SIZE).hex()
        payload = F.expr(f"concat(version.prefix, payload, X'{self._end}')")
        self._known: Column = F.expr(f"try_element_at({self._versions()}, schema)")
        self._record: Column = from_avro(
            payload, writers, {"mode": "PERMISSIVE", "avroSchema": reader}
        )
        self._status: Column = F.expr(self._write_status())
        event = F.expr(write_value(self._root, "record.body"))
        self._event: Column = name_event(event, self.schema)

    def decode(self, frames: DataFrame) -> DataFrame:
        """Judge frames: `status` says what each record is now, `record` and `version` hold it."""
        return (
            frames.withColumn("version", self._known)
            .withColumn("record", self._record)
            .withColumn("status", self._status)
        )

    def select(self, decoded: DataFrame) -> DataFrame:
        """Give the rows of records that were decoded, as `penstock.spark.rows` has them."""
        return self.project(decoded.filter(F.col("status") == RowStatus.DECODED.value))

    def project(self, decoded: DataFrame, *more: Column) -> DataFrame:
        """Name the columns of rows, and `more` behind them."""
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
        return f"""
            CASE WHEN {_STAYS_HERE} THEN status
                 WHEN status <> '{FrameStatus.FRAMED}' THEN status
                 WHEN version IS NULL THEN '{RowStatus.UNKNOWN}'
                 WHEN record.end IS NULL THEN '{Reason.UNDECODABLE}'
                 WHEN record.end <> X'{self._end}' THEN '{Reason.TRAILING_BYTES}'
                 {" ".join(cases)} ELSE '{RowStatus.DECODED}' END"""


def write_schemas(merged: Schema, versions: Sequence[Schema]) -> tuple[str, str]:
    """Write what Avro needs: the union of the versions, and the reader's schema.

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
    """Put a schema into the record that ends with the bytes that nobody can guess."""
    end = {"type": "fixed", "name": "End", "size": _END_SIZE}
    fields = [{"name": "body", "type": body}, {"name": "end", "type": end}]
    return json.dumps({"type": "record", "name": "Ended", "fields": fields})


def admit(spark: SparkSession, known: Iterable[SchemaVersion], version: SchemaVersion) -> None:
    """Check a version alone, and with those that are known.

    Raises:
        RecursiveSchemaError, SchemaLimitError, InvalidSchemaError: it is not valid, not bounded, or
            not to be had in Spark.
        SchemaConflictError: it contradicts those that are known.
        UnroutableError: its values are no events.
    """
    where = f"schema version {version.key} of {version.name}"
    try:
        check_schema(version.schema)
        if not isinstance(version.schema, dict) or version.schema["type"] != "record":
            raise UnroutableError(f"{where}: found no record, expected an event")
        merged = merge_schemas([*(each.schema for each in known), version.schema])
        _try_in_java(spark, merged, version.schema)
    except SchemaError as error:
        raise type(error)(f"{where}: {error}") from error


def _try_in_java(spark: SparkSession, merged: Schema, schema: Schema) -> None:
    """Let Spark and Avro for Java do what a decoder of this version would ask of them."""
    writer, reader = write_schemas(merged, [schema])
    jvm: Any = spark.sparkContext._jvm
    avro = jvm.org.apache.avro
    try:
        parsed = [getattr(avro, "Schema$Parser")().parse(text) for text in (writer, reader)]
        renamed = avro.Schema.applyAliases(*parsed)
        avro.io.DecoderFactory.get().resolvingDecoder(renamed, parsed[1], None)
        jvm.org.apache.spark.sql.avro.SchemaConverters.toSqlType(parsed[1])
    except (Py4JJavaError, PySparkException) as error:
        cause = getattr(error, "java_exception", error)
        raise InvalidSchemaError(
            f"Spark cannot read {canonical_form(schema)[:200]}: {str(cause).splitlines()[0]}"
        ) from error
