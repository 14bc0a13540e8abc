"""Spark session settings that every job and test needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, TypeVar

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.errors import SettingsError
from penstock.settings import Settings
from penstock.spark.decoding.jar import load_jar
from penstock.spark.lake.iceberg import catalog_settings
from penstock.spark.settings.consume import read_settings
from penstock.spark.state.files import read_text

# Those of most expressions, statements and errors of Java, each a class and its method.
_LOOKED_UP: Final = (
    ("py4j", "reflection", "TypeUtil", "isInstanceOf"),
    ("PythonUtils", "toSeq"),
    ("functions", "col"),
    ("org.apache.spark.sql.functions", "expr"),
    ("org.apache.spark.sql.functions", "col"),
    ("org.apache.spark.sql.classic.SparkSession", "getActiveSession"),
    ("org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin", "set"),
    ("org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin", "clear"),
)
_Read = TypeVar("_Read", bound=Settings)

_SETTINGS: Final = {
    # A batch of 50 topics has 200 partitions, each with a consumer; by default Spark keeps 64.
    "spark.kafka.consumer.cache.capacity": "256",
    # HotSpot never compiles a method above this size; Spark's default limit is eight times that.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # An event may have both `Temp` and `temp`.
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}
# Timestamps in plain files. Spark's default is a type that Parquet gave up: pyarrow reads another
# date for those before 1677 and after 2262.
_FILES: Final = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
# Limits of the data that a driver keeps in memory, as it may run for months.
_BOUNDS: Final = {
    "spark.sql.codegen.cache.maxEntries": "500",
    "spark.sql.ui.retainedExecutions": "100",
}
# Spark shows the options of a write in its UI and event logs. By default it hides URLs and options
# with passwords; the private key of a client certificate is none of these.
_HIDDEN_OPTIONS: Final = {"spark.sql.redaction.options.regex": "(?i)url|keystore[.]key$"}


def session_settings() -> dict[str, str]:
    """Return the settings that every session starts with."""
    return {**_SETTINGS, **_FILES, **_BOUNDS}


def build_session(name: str) -> SparkSession:
    """Start Spark for a job, or return the session that already exists.

    Settings that the user gave with `--conf` are kept.
    """
    given = _read_given()
    ours = {**session_settings(), **_HIDDEN_OPTIONS, **catalog_settings()}
    wanted: dict[str, Any] = {name: text for name, text in ours.items() if name not in given}
    spark = SparkSession.builder.appName(name).config(map=wanted).getOrCreate()
    keep_lookups(spark)
    load_jar(spark)
    return spark


def keep_lookups(spark: SparkSession) -> None:
    """Look up what PySpark uses most of Java, which it would look up again at each use."""
    for path in _LOOKED_UP:
        place: Any = spark.sparkContext._jvm
        for name in path:
            found = getattr(place, name)
            setattr(place, name, found)
            place = found


def _read_given() -> dict[str, str]:
    """Return the settings of the active session, or those that `spark-submit` was given."""
    if session := SparkSession.getActiveSession():
        return dict(session.sparkContext.getConf().getAll())
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def read_job(
    name: str, kind: type[_Read], argv: Sequence[str] | None
) -> tuple[SparkSession, _Read]:
    """Start Spark for a job, and read its settings from its flags, contract and environment.

    Raises:
        SettingsError: settings are invalid; the error lists every problem.
    """
    spark, words = begin_job(name, argv)
    return spark, read_settings(kind, words, os.environ, partial(read_text, spark))


def begin_job(name: str, argv: Sequence[str] | None) -> tuple[SparkSession, Sequence[str]]:
    """Start Spark for a job; return the session, checked, and the words of the command line.

    Raises:
        SettingsError: the session has settings by which records would be read as others.
    """
    spark = build_session(name)
    check_session(spark)
    return spark, sys.argv[1:] if argv is None else argv


def check_session(spark: SparkSession) -> None:
    """Reject a session with settings by which records would be read as others, or slowly.

    Raises:
        SettingsError: settings are wrong; the error lists each of them.
    """
    problems = [
        f"{name} is {spark.conf.get(name)}, expected {value}"
        for name, value in _SETTINGS.items()
        if name.startswith("spark.sql.") and spark.conf.get(name) != value
    ]
    if problems:
        raise SettingsError(problems)
