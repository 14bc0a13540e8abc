"""The lake has every value under one name, whatever becomes wider, or writes nothing."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.errors import Reason, SchemaConflictError, SinkUnavailableError
from penstock.spark import MaintainSettings, maintain_table
from penstock.spark.lake import widening
from penstock.spark.lake.iceberg import (
    WRITER_CATALOG,
    IcebergTable,
    qualify_table,
    register_writer_catalog,
)
from penstock.spark.lake.widening import refill_columns
from penstock.spark.sinks.iceberg import Lake
from tests.spark.lakes import make_rows, part
from tests.spark.sinks import FileErrors


def test_whole_numbers_that_become_doubles_stay_under_their_name(spark, reader):
    beyond = 2**53 + 1
    reader.lake.write(make_rows(spark, "x bigint", (1,), (None,), (beyond,)), part(0, 0))
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=3), part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (None,), (None,), (0.5,)]
    assert reader.query("SELECT x, _before_1_x FROM t WHERE x IS NULL ORDER BY _offset") == [
        (None, None),
        (None, beyond),
    ]
    reader.again().write(make_rows(spark, "x double", (0.5,), first=3), part(1, 0))
    assert reader.query("SELECT count(*), sum(x) FROM t") == [(4, 1.5)]


def test_whole_numbers_inside_of_something_become_doubles(spark, reader):
    columns = "list array<bigint>, s struct<a: bigint, b: string>, m map<string, struct<n: int>>"
    event = ([1, None], (2, "b"), {"k": (3,)})
    reader.lake.write(make_rows(spark, columns, event, (None, None, None)), part(0, 0))
    wider = (
        "list array<double>, s struct<b: string, c: int, a: double>, "
        "m map<string, struct<n: double>>"
    )
    event = ([0.5], ("c", 1, 2.5), {"k": (3.5,)})
    reader.lake.write(make_rows(spark, wider, event, first=2), part(1, 0))

    found = reader.query("SELECT list, s.a, s.b, s.c, m['k'].n FROM t ORDER BY _offset")
    assert found == [
        ([1.0, None], 2.0, "b", None, 3.0),
        (None, None, None, None, None),
        ([0.5], 2.5, "c", 1, 3.5),
    ]


@pytest.mark.parametrize("is_renamed", [False, True], ids=["before renaming", "after renaming"])
def test_a_widening_that_was_killed_is_completed_later(spark, reader, monkeypatch, is_renamed):
    class KilledError(Exception):
        """What stands for kill -9."""

    rename = IcebergTable.rename

    def die(table, *names):
        if is_renamed:
            rename(table, *names)
        raise KilledError

    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    rows = make_rows(spark, "x double", (0.5,), first=1)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr("penstock.spark.lake.iceberg.IcebergTable.rename", die)
        reader.lake.write(rows, part(1, 0))
    assert reader.query("SELECT x FROM t") == [(1,)]

    reader.again().write(rows, part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    assert [name for name in reader.table().schema().names if name.startswith("_next_")] == []


def test_rows_that_others_write_during_a_widening_are_kept(spark, reader, monkeypatch):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    rename = reader.lake._table.rename

    def rename_late(names, comments):
        reader.again().write(make_rows(spark, "x bigint", (2,), first=9), part(0, 0, query="other"))
        rename(names, comments)

    monkeypatch.setattr(reader.lake._table, "rename", rename_late)
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=1), part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY x") == [(0.5,), (1.0,), (2.0,)]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_widening_that_fails_behind_the_rename_is_completed(
    spark, reader, monkeypatch, is_restarted
):
    """It has rows to fill that another query wrote before the rename."""
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    rows = make_rows(spark, "x double", (0.5,), first=1)
    rename, down = IcebergTable.rename, Mock(side_effect=SinkUnavailableError("down"))
    with monkeypatch.context() as patch:

        def rename_late(*given):
            others = make_rows(spark, "x bigint", (2,), first=9)
            reader.again().write(others, part(0, 0, query="other"))
            rename(*given)
            patch.setattr(widening, "_fill", down)

        patch.setattr(IcebergTable, "rename", rename_late)
        with pytest.raises(SinkUnavailableError, match="down"):
            reader.lake.write(rows, part(1, 0))

    (reader.again() if is_restarted else reader.lake).write(rows, part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY x") == [(0.5,), (1.0,), (2.0,)]
    assert not [name for name in reader.table().properties() if "unfilled" in name]


@pytest.mark.parametrize("step", ["_prepare", "_fill", "rename"])
def test_a_column_that_another_query_widened_first_is_taken_as_it_is(
    spark, reader, monkeypatch, step
):
    """The batch is written again, as after any commit that comes first."""
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    rows, others = (make_rows(spark, "x double", (at + 0.5,), first=at) for at in (1, 2))
    owner = IcebergTable if step == "rename" else widening
    take = getattr(owner, step)

    def take_late(*given):
        monkeypatch.setattr(owner, step, take)
        reader.again().write(others, part(0, 0, query="other"))
        return take(*given)

    monkeypatch.setattr(owner, step, take_late)
    with pytest.raises(SinkUnavailableError, match=r"another query widened x of lake\..* first"):
        reader.lake.write(rows, part(1, 0))
    reader.lake.write(rows, part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY x") == [(1.0,), (1.5,), (2.5,)]
    assert [name for name in reader.table().schema().names if name.endswith("x")] == [
        "_before_1_x", "x",
    ]  # fmt: skip


class _Widening:
    """The fence of a driver that stalls after it staged rows, while another one widens."""

    fence = 1

    def __init__(self, spark, reader):
        self._write = lambda: reader.again().write(
            make_rows(spark, "x double", (0.5,), first=5), part(0, 0, query="other")
        )

    def check(self):
        self._write()


def test_rows_that_were_staged_before_a_widening_are_kept(spark, reader):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    lake = Lake(spark, reader.name.removeprefix("lake."), fence=_Widening(spark, reader))

    lake.write(make_rows(spark, "x bigint", (2,), (None,), first=1), part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (2.0,), (None,), (0.5,)]


def test_a_part_that_comes_again_is_filled(spark, reader, monkeypatch):
    """A widening came between its rows and their publication, and the driver died behind that."""
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    lake = Lake(spark, reader.name.removeprefix("lake."), fence=_Widening(spark, reader))
    rows = make_rows(spark, "x bigint", (2,), first=1)
    with monkeypatch.context() as patch:
        patch.setattr("penstock.spark.sinks.iceberg.refill_columns", lambda *_: None)
        lake.write(rows, part(1, 0))

    reader.lake.write(rows, part(1, 0))

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (2.0,), (0.5,)]


def test_maintenance_keeps_rows_of_a_driver_that_died_after_a_widening(spark, reader, monkeypatch):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    lake = Lake(spark, reader.name.removeprefix("lake."), fence=_Widening(spark, reader))
    with monkeypatch.context() as patch:
        patch.setattr("penstock.spark.sinks.iceberg.refill_columns", lambda *_: None)
        lake.write(make_rows(spark, "x bigint", (2,), first=1), part(1, 0))

    settings = MaintainSettings.from_args(["--lake-table", reader.name.removeprefix("lake.")])
    maintain_table(spark, settings)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (2.0,), (0.5,)]


def test_a_value_that_is_set_to_null_in_both_columns_stays_null(spark, reader):
    reader.lake.write(make_rows(spark, "x bigint", (1,), (2,)), part(0, 0))
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=2), part(1, 0))
    spark.sql(f"UPDATE {reader.name} SET x = NULL, _before_1_x = NULL WHERE x = 1")

    maintain_table(spark, MaintainSettings(reader.name.removeprefix("lake.")))

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(None,), (2.0,), (0.5,)]


def test_a_widening_behind_another_commit_is_repeated(spark, reader):
    """As a compaction, which replaces the files that the widening reads."""
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))
    reader.lake.write(make_rows(spark, "x double", (0.5,), first=1), part(1, 0))
    spark.sql(f"UPDATE {reader.name} SET x = NULL WHERE _offset = 0")
    register_writer_catalog(spark)  # which sees no commit of others before it is refreshed
    table = IcebergTable(spark, qualify_table(reader.name.removeprefix("lake."), WRITER_CATALOG))
    spark.sql(f"UPDATE {reader.name} SET _topic = 'other'")

    refill_columns(spark, table)

    assert reader.query("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]


def test_whole_numbers_that_a_double_column_would_round_are_dead_letters(spark, reader, tmp_path):
    """Another query made the column a double; the records of this one are written all the same."""
    beyond = 2**53 + 1
    wide = "x double, l array<double>, m map<string, struct<n: double>>"
    reader.lake.write(make_rows(spark, wide, (0.5, None, None)), part(0, 0))
    errors = FileErrors(tmp_path)
    lake = Lake(spark, reader.name.removeprefix("lake."), errors=errors)
    whole = make_rows(
        spark, "x bigint, l array<bigint>, m map<string, struct<n: bigint>>",
        (2, [1], {"k": (3,)}), (None, None, None), (beyond, None, None), (-beyond, [1], None),
        (1, [1, None, beyond], None), (1, None, {"k": (None,), "l": (beyond,)}),
        (2**53, [-(2**53)], None), first=1,
    )  # fmt: skip

    for _ in range(2):  # as after a crash between the rows and their dead letters
        assert lake.write(whole, part(1, 0)) == {Reason.LOSSY_WIDENING: 4}
        assert errors.reasons() == dict.fromkeys((3, 4, 5, 6), "lossy-widening")
        for path in tmp_path.iterdir():
            path.unlink()

    assert reader.query("SELECT _offset, x FROM t ORDER BY _offset") == [
        (0, 0.5), (1, 2.0), (2, None), (7, 2.0**53),
    ]  # fmt: skip


def test_a_contradiction_writes_nothing(spark, reader):
    reader.lake.write(make_rows(spark, "x bigint", (1,)), part(0, 0))

    with pytest.raises(
        SchemaConflictError, match="x: the column is bigint and the records have stri"
    ):
        reader.lake.write(make_rows(spark, "x string", ("a",), first=1), part(1, 0))

    assert reader.query("SELECT x FROM t") == [(1,)]
    assert reader.table().schema()["x"].dataType.simpleString() == "bigint"
