"""The lake has every value under one name, whatever becomes wider, or writes nothing."""

from __future__ import annotations

import pytest

from penstock.errors import SchemaConflictError
from tests.spark.lakes import batch, make_rows


def test_whole_numbers_that_become_doubles_stay_under_their_name(spark, reader):
    beyond = 2**53 + 1
    reader.lake.write(make_rows(spark, "x bigint", (1,), (None,), (beyond,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=3), batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (None,), (None,), (0.5,)]
    assert reader.query("SELECT x, _before_1_x FROM t WHERE x IS NULL ORDER BY _offset") == [
        (None, None),
        (None, beyond),
    ]
    reader.again().write(make_rows(spark, "x double", (0.5,), first=3), batch(1), 0)
    assert reader.query("SELECT count(*), sum(x) FROM t") == [(4, 1.5)]


def test_whole_numbers_inside_of_something_become_doubles(spark, reader):
    columns = "list array<bigint>, s struct<a: bigint, b: string>, m map<string, struct<n: int>>"
    event = ([1, None], (2, "b"), {"k": (3,)})
    reader.lake.write(make_rows(spark, columns, event, (None, None, None)), batch(0), 0)
    wider = (
        "list array<double>, s struct<b: string, c: int, a: double>, "
        "m map<string, struct<n: double>>"
    )
    event = ([0.5], ("c", 1, 2.5), {"k": (3.5,)})
    reader.lake.write(make_rows(spark, wider, event, first=2), batch(1), 0)

    found = reader.query("SELECT list, s.a, s.b, s.c, m['k'].n FROM t ORDER BY _offset")
    assert found == [
        ([1.0, None], 2.0, "b", None, 3.0),
        (None, None, None, None, None),
        ([0.5], 2.5, "c", 1, 3.5),
    ]


@pytest.mark.parametrize("step", ["rename", "describe"])
def test_a_widening_that_was_killed_is_made_up_for(spark, reader, monkeypatch, step):
    class KilledError(Exception):
        """What stands for kill -9."""

    def die(*_):
        raise KilledError

    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)
    rows = make_rows(spark, "x double", (0.5,), first=1)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(f"penstock.spark.lake.iceberg.IcebergTable.{step}", die)
        reader.lake.write(rows, batch(1), 0)
    assert reader.query("SELECT x FROM t") == [(1,)]

    reader.again().write(rows, batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    assert [name for name in reader.table().schema().names if name.startswith("_next_")] == []


def test_what_others_write_while_a_column_is_made_anew_is_there_too(spark, reader, monkeypatch):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)
    rename = reader.lake._table.rename

    def rename_late(names):
        reader.again().write(make_rows(spark, "x bigint", (2,), first=9), batch(0, "", "other"), 0)
        rename(names)

    monkeypatch.setattr(reader.lake._table, "rename", rename_late)
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=1), batch(1), 0)

    assert reader.query("SELECT x FROM t ORDER BY x") == [(0.5,), (1.0,), (2.0,)]


def test_a_whole_number_that_a_double_column_would_round_stops_the_batch(spark, reader):
    reader.lake.write(make_rows(spark, "x double", (0.5,)), batch(0), 0)
    reader.lake.write(make_rows(spark, "x bigint", (2,), (None,), first=1), batch(1), 0)

    with pytest.raises(Exception, match="found 9007199254740993, expected a whole number within"):
        reader.lake.write(make_rows(spark, "x bigint", (2**53 + 1,), first=3), batch(2), 0)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(0.5,), (2.0,), (None,)]


def test_a_contradiction_writes_nothing(spark, reader):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), batch(0), 0)

    with pytest.raises(
        SchemaConflictError, match="x: the column is bigint and the records have stri"
    ):
        reader.lake.write(make_rows(spark, "x string", ("a",), first=1), batch(1), 0)

    assert reader.query("SELECT x FROM t") == [(1,)]
    assert reader.table().schema()["x"].dataType.simpleString() == "bigint"
