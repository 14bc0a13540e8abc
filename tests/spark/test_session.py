"""A session without its settings is refused before a record can end it."""

from __future__ import annotations

import pytest

from penstock.errors import SettingsError
from penstock.spark.session import check_session


def test_the_settings_suffice(spark):
    check_session(spark)


def test_the_class_that_looks_at_errors_is_looked_up_once(spark):
    jvm = spark.sparkContext._jvm
    assert jvm.py4j.reflection.TypeUtil is jvm.py4j.reflection.TypeUtil


def test_every_wrong_setting_is_named(spark):
    other = spark.newSession()
    other.conf.set("spark.sql.caseSensitive", "false")
    other.conf.set("spark.sql.codegen.hugeMethodLimit", "65535")

    with pytest.raises(SettingsError) as caught:
        check_session(other)

    assert caught.value.problems == (
        "spark.sql.codegen.hugeMethodLimit is 65535, expected 8000",
        "spark.sql.caseSensitive is false, expected true",
    )
