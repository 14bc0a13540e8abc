"""A session without its settings is refused before a record can end it."""

from __future__ import annotations

import pytest

from penstock.errors import SettingsError
from penstock.spark import session
from penstock.spark.session import check_session, session_settings


def test_the_settings_suffice(spark):
    check_session(spark)


def test_the_class_that_looks_at_errors_is_looked_up_once(spark):
    jvm = spark.sparkContext._jvm
    assert jvm.py4j.reflection.TypeUtil is jvm.py4j.reflection.TypeUtil


def test_every_missing_setting_is_named(spark, monkeypatch):
    other = spark.newSession()
    other.conf.set("spark.sql.caseSensitive", "false")
    other.conf.set("spark.sql.codegen.hugeMethodLimit", "65535")
    monkeypatch.setitem(session._AVRO_LIMITS, "org.apache.avro.limits.nothing", "1")

    with pytest.raises(SettingsError) as caught:
        check_session(other)

    assert caught.value.problems == (
        f"spark.driver.extraJavaOptions sets no limits for Avro, expected {_options()}",
        f"spark.executor.extraJavaOptions sets no limits for Avro, expected {_options()}",
        "spark.sql.codegen.hugeMethodLimit is 65535, expected 8000",
        "spark.sql.caseSensitive is false, expected true",
    )


def test_the_setting_of_the_decoder_needs_its_jar(spark, java_decoder, monkeypatch):
    check_session(spark)
    monkeypatch.setattr(session, "CATALOG_CLASS", "penstock.spark.Missing")

    with pytest.raises(SettingsError) as caught:
        check_session(spark)

    assert caught.value.problems == (
        "spark.sql.catalog.penstock_decoder is set, and no jar has penstock.spark.Missing,"
        " expected penstock-decoder.jar of `make install` in --jars",
    )


def _options():
    return session_settings()["spark.driver.extraJavaOptions"]
