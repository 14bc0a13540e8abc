"""A session without its settings is refused before a record can end it."""

from __future__ import annotations

import pytest
from py4j.java_gateway import JavaClass, JavaPackage, JVMView
from pyspark.sql import functions as F

from penstock.errors import SettingsError
from penstock.spark.session import check_session


def test_the_settings_suffice(spark):
    check_session(spark)


def test_what_expressions_and_errors_need_of_java_is_looked_up_once(spark, monkeypatch):
    """A look-up of a class without a package reads every jar."""
    looked_up = []
    for kind in (JavaClass, JavaPackage, JVMView):
        monkeypatch.setattr(kind, "__getattr__", lambda _, name: looked_up.append(name))
    rows = spark.range(3).select("id", F.expr("id * 2 AS double")).filter(F.col("id") > 0)

    assert looked_up == []
    assert rows.count() == 2
    assert spark.sparkContext._jvm.py4j.reflection.TypeUtil.isInstanceOf


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
