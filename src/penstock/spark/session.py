"""Spark session settings that every job and test needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from py4j.java_gateway import JavaClass
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.errors import SettingsError
from penstock.settings import Settings
from penstock.spark.decoding.function import CATALOG, CATALOG_CLASS, has_function
from penstock.spark.lake.iceberg import catalog_settings
from penstock.spark.settings.consume import read_settings, read_text
from penstock.spark.settings.stage import StageSettings, read_stage_settings
from penstock.staging import StagingPlan

# Where PySpark looks up by package: the class that it asks a dozen times about each error of Java.
_LOOKED_UP: Final = ("py4j", "reflection", "TypeUtil")
_Read = TypeVar("_Read", bound=Settings)

# Six bytes can declare a string of 2 GB, and Avro for Java allocates the declared length.
# No payload is longer than the first two limits; an array may use one byte per item.
_AVRO_LIMITS: Final = {
    "org.apache.avro.limits.string.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.bytes.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.collectionItems.maxLength": str(2**20),
}
_JAVA_OPTIONS: Final = " ".join(f"-D{name}={value}" for name, value in _AVRO_LIMITS.items())

_JAVA_SETTINGS: Final = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
_SETTINGS: Final = {
    # If a JVM is already running (spark-submit), its command must set these two.
    "spark.driver.extraJavaOptions": _JAVA_OPTIONS,
    "spark.executor.extraJavaOptions": _JAVA_OPTIONS,
    # A batch of 50 topics has 200 partitions, each with a consumer; by default Spark keeps 64.
    "spark.kafka.consumer.cache.capacity": "256",
    # HotSpot never compiles a method above this size; Spark's default limit is eight times that.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # An event may have both `Temp` and `temp`.
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}
# An Arrow batch has the values that a function in Python gets. Whole rows wait for its results.
_ARROW: Final = {
    "spark.sql.execution.arrow.maxBytesPerBatch": "33554432",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
}
# Each execution has its plan as text, and the decoder's has the schema of each version: 0.4 MB with
# 200 of them. The UI keeps texts in the driver's memory, the event log on disk.
_BOUNDS: Final = {
    "spark.sql.codegen.cache.maxEntries": "500",
    "spark.sql.debug.maxToStringFields": "2",
    "spark.sql.maxPlanStringLength": "8192",
    "spark.sql.ui.retainedExecutions": "100",
}


def session_settings() -> dict[str, str]:
    """Return the settings that every session starts with."""
    return {**_SETTINGS, **_ARROW, **_BOUNDS}


def build_session(name: str) -> SparkSession:
    """Start Spark for a job, or return the session that already exists.

    Settings that the user gave with `--conf` are kept; Java options are appended to the user's.
    """
    wanted: dict[str, Any] = {
        **add_settings({**session_settings(), **catalog_settings()}, _read_given())
    }
    spark = SparkSession.builder.appName(name).config(map=wanted).getOrCreate()
    keep_lookups(spark)
    return spark


def keep_lookups(spark: SparkSession) -> None:
    """Keep what py4j otherwise looks up at each use, by searching every jar for each package."""
    place: Any = spark.sparkContext._jvm
    for name in _LOOKED_UP:
        found = getattr(place, name)
        setattr(place, name, found)
        place = found


def add_settings(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to add to those given.

    Given settings are not changed; missing Java options are appended to the given ones.
    """
    added = {name: text for name, text in ours.items() if name not in given}
    for name in _JAVA_SETTINGS:
        options = given.get(name, "").split()
        set_there = {option.partition("=")[0] for option in options}
        missing = [each for each in ours[name].split() if each.partition("=")[0] not in set_there]
        added[name] = " ".join([*options, *missing])
    return added


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
    spark = build_session(name)
    check_session(spark)
    words = sys.argv[1:] if argv is None else argv
    return spark, read_settings(kind, words, os.environ, partial(read_text, spark))


def read_stage_job(
    name: str, argv: Sequence[str] | None
) -> tuple[SparkSession, StageSettings, StagingPlan]:
    """Start Spark for a staging job, and read its settings and its plan.

    Raises:
        SettingsError: settings or the configuration file are invalid; the error lists every
            problem.
    """
    spark = build_session(name)
    check_session(spark)
    words = sys.argv[1:] if argv is None else argv
    return spark, *read_stage_settings(words, os.environ, partial(read_text, spark))


def check_session(spark: SparkSession) -> None:
    """Reject a session in which one record could crash the driver or an executor.

    Raises:
        SettingsError: settings are missing or wrong; the error lists each of them.
    """
    jvm: Any = spark.sparkContext._jvm
    executors = spark.conf.get("spark.executor.extraJavaOptions", "") or ""
    given = [jvm.java.lang.System.getProperty(name) for name in _AVRO_LIMITS]
    where = {
        "driver": all(given),
        "executor": all(f"-D{name}=" in executors for name in _AVRO_LIMITS),
    }
    problems = [
        f"spark.{who}.extraJavaOptions sets no limits for Avro, expected {_JAVA_OPTIONS}"
        for who, has_limits in where.items()
        if not has_limits
    ]
    if has_function(spark) and not _finds(jvm, CATALOG_CLASS):
        problems.append(
            f"{CATALOG} is set, and no jar has {CATALOG_CLASS}, expected penstock-decoder.jar of "
            "`make install` in --jars"
        )
    problems += [
        f"{name} is {spark.conf.get(name)}, expected {value}"
        for name, value in _SETTINGS.items()
        if name.startswith("spark.sql.") and spark.conf.get(name) != value
    ]
    if problems:
        raise SettingsError(problems)


def _finds(jvm: Any, name: str) -> bool:
    """Return whether the driver has a class; py4j takes an unknown name for a package."""
    return isinstance(getattr(jvm, name), JavaClass)
