"""What a Spark session must be told, the same in every job and test."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.errors import SettingsError
from penstock.settings import Settings
from penstock.spark.lake.catalog import catalog_settings
from penstock.spark.settings.consume import read_settings
from penstock.spark.settings.contract import read_text

_Read = TypeVar("_Read", bound=Settings)

# A string of 2 GB may be claimed in six bytes, and Avro for Java makes room for what is claimed.
# No payload is longer than the first two; an array may take a byte for each of its items.
_AVRO_LIMITS: Final = {
    "org.apache.avro.limits.string.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.bytes.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.collectionItems.maxLength": str(2**20),
}
_JAVA_OPTIONS: Final = " ".join(f"-D{name}={value}" for name, value in _AVRO_LIMITS.items())

_JAVA_SETTINGS: Final = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
_SETTINGS: Final = {
    # Where a JVM is running already (spark-submit), it is the command that must bring these two.
    "spark.driver.extraJavaOptions": _JAVA_OPTIONS,
    "spark.executor.extraJavaOptions": _JAVA_OPTIONS,
    # HotSpot never compiles a method above this size, and Spark's own limit is eight times that.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # An event may have both `Temp` and `temp`.
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}


def session_settings() -> dict[str, str]:
    """Give the settings that a session of ours starts with."""
    return dict(_SETTINGS)


def build_session(name: str) -> SparkSession:
    """Start Spark for a job, or take the session that there is.

    What the user set with `--conf` stays; our options of Java go behind the user's.
    """
    wanted: dict[str, Any] = {**add_settings({**_SETTINGS, **catalog_settings()}, _read_given())}
    return SparkSession.builder.appName(name).config(map=wanted).getOrCreate()


def add_settings(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to add to those that are given: none that is there is changed."""
    added = {name: text for name, text in ours.items() if name not in given}
    for name in _JAVA_SETTINGS:
        options = given.get(name, "").split()
        set_there = {option.partition("=")[0] for option in options}
        missing = [each for each in ours[name].split() if each.partition("=")[0] not in set_there]
        added[name] = " ".join([*options, *missing])
    return added


def _read_given() -> dict[str, str]:
    """Read what `spark-submit` was told, if it started this process, or the session has."""
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
        SettingsError: with every problem there is.
    """
    spark = build_session(name)
    check_session(spark)
    words = sys.argv[1:] if argv is None else argv
    return spark, read_settings(kind, words, os.environ, partial(read_text, spark))


def check_session(spark: SparkSession) -> None:
    """Refuse a session in which one record could end the driver or an executor.

    Raises:
        SettingsError: names each setting that is missing.
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
    problems += [
        f"{name} is {spark.conf.get(name)}, expected {value}"
        for name, value in _SETTINGS.items()
        if name.startswith("spark.sql.") and spark.conf.get(name) != value
    ]
    if problems:
        raise SettingsError(problems)
