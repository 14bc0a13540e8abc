"""Which versions a decoder may be built with: a bad one must not stop the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.errors import InvalidSchemaError, SchemaError, UnroutableError
from penstock.registry import SchemaVersion
from penstock.schemas import Schema, canonical_form, check_schema, merge_schemas
from penstock.spark.decoder import write_schemas


def admit(spark: SparkSession, known: Iterable[SchemaVersion], version: SchemaVersion) -> None:
    """Check a version alone, and with those that are known.

    Raises:
        RecursiveSchemaError, SchemaLimitError, InvalidSchemaError: it is not valid, not bounded, or
            not to be had in Spark.
        SchemaConflictError: it contradicts those that are known.
        UnroutableError: its values are no events.
    """
    where = f"schema version {version.id} of {version.name}"
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
