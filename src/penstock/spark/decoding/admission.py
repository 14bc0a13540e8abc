"""The check of schema versions before a decoder uses them; each is refused by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.errors import (
    Failure,
    InvalidSchemaError,
    PenstockError,
    SchemaError,
    UnroutableError,
)
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import Schema, canonical_form, check_schema, merge_schemas
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.decoder import write_schemas

Versions = Sequence[SchemaVersion]


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
