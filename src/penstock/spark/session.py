"""What a Spark session must be told, the same in every job and test."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.errors import SettingsError
from penstock.spark.lake.catalog import catalog_settings

# A string of 2 GB may be claimed in six bytes, and Avro for Java makes room for what is claimed.
# No payload is longer than the first two; an array may take a byte for each of its items.
_AVRO_LIMITS: Final = {
    "org.apache.avro.limits.string.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.bytes.maxLength": str(8 * 2**20),
    "org.apache.avro.limits.collectionItems.maxLength": str(2**20),
}
_JAVA_OPTIONS: Final = " ".join(f"-D{name}={value}" for name, value in _AVRO_LIMITS.items())

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
    """Start Spark for a job, or take the session that there is."""
    settings: dict[str, Any] = {**_SETTINGS, **catalog_settings()}
    return SparkSession.builder.appName(name).config(map=settings).getOrCreate()


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
