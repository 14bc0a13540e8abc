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
from penstock.spark.decoding.union import write_schemas


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
    known: Iterable[SchemaVersion] = (),
    table_of: Callable[[SchemaVersion], str] = lambda _: "",
    columns: Projection | None = None,
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Check versions, older ones first; return those that can be used, and why others cannot.

    All are checked at once; only if one cannot be used, each is checked with those before it. Both
    take time that is linear in the number of versions.

    Args:
        spark: the session.
        found: the versions to check.
        known: versions that are used already.
        table_of: the table of a version; versions of one table are merged.
        columns: those of a staged table.
    """
    found = sorted(found, key=lambda each: each.number)
    tables: dict[str, list[SchemaVersion]] = {table_of(each): [] for each in found}
    for each in known:
        if table_of(each) in tables:
            tables[table_of(each)].append(each)
    admitted: list[SchemaVersion] = []
    refused: dict[SchemaKey, Failure] = {}
    for table, before in tables.items():
        new = [each for each in found if table_of(each) == table]
        if not _fit_together(spark, before, new, columns):
            refused |= _admit_each(spark, before, new, columns)
        admitted += [each for each in new if each.key not in refused]
    return sorted(admitted, key=lambda each: each.number), refused


def _fit_together(
    spark: SparkSession,
    known: Sequence[SchemaVersion],
    new: Sequence[SchemaVersion],
    columns: Projection | None,
) -> bool:
    """Return whether all versions are valid and fit together, which one merge of all tells."""
    try:
        for each in new:
            _check_alone(each, columns)
        merged = merge_schemas([each.schema for each in (*known, *new)])
        if columns is not None:
            EventColumns(columns, merged).schema()
        _try_in_java(spark, merged, [each.schema for each in new])
    except PenstockError:
        return False
    return True


def _admit_each(
    spark: SparkSession,
    known: Sequence[SchemaVersion],
    new: Sequence[SchemaVersion],
    columns: Projection | None,
) -> dict[SchemaKey, Failure]:
    """Return why versions are refused, if each is checked with those admitted before it.

    The merge with the merge of those is the same as a merge of all.
    """
    refused: dict[SchemaKey, Failure] = {}
    merged = merge_schemas([each.schema for each in known]) if known else None
    for version in new:
        try:
            merged = admit(spark, merged, version, columns)
        except PenstockError as error:
            refused[version.key] = Failure.of(error)
    return refused


def admit(
    spark: SparkSession,
    known: Schema | None,
    version: SchemaVersion,
    columns: Projection | None = None,
) -> Schema:
    """Check a version, alone and with the merge of those known; return the merge with it.

    Raises:
        RecursiveSchemaError, SchemaLimitError, InvalidSchemaError: it is invalid, exceeds a limit,
            or cannot be read by Spark.
        SchemaConflictError: it contradicts a known version, two fields would be one column, or it
            has none of the chosen fields.
        UnroutableError: its values are not events.
    """
    where = f"schema version {version.key} of {version.name}"
    try:
        _check_alone(version, columns)
        merged = merge_schemas([version.schema] if known is None else [known, version.schema])
        if columns is not None:
            EventColumns(columns, merged).schema()
        _try_in_java(spark, merged, [version.schema])
    except SchemaError as error:
        raise type(error)(f"{where}: {error}") from error
    return merged


def _check_alone(version: SchemaVersion, columns: Projection | None) -> None:
    schema = version.schema
    check_schema(schema)
    if not isinstance(schema, dict) or schema["type"] != "record":
        raise UnroutableError(
            f"schema version {version.key} of {version.name}: found no record, expected an event"
        )
    if columns is not None:
        EventColumns(columns, merge_schemas([schema])).schema()


def _try_in_java(spark: SparkSession, merged: Schema, schemas: Sequence[Schema]) -> None:
    """Resolve versions with Spark and Avro for Java, as a decoder would."""
    writer, reader = write_schemas(merged, schemas)
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
            f"Spark cannot read {canonical_form(schemas[0])[:200]}: {str(cause).splitlines()[0]}"
        ) from error
