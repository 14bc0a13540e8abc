"""Upkeep makes few files of many, and no batch is forgotten by it."""

from __future__ import annotations

import json
import os
import time

import pyarrow.parquet as pq
import pytest

from jobs import maintain_lake
from penstock.errors import SettingsError, SinkUnavailableError
from penstock.spark import MaintainSettings, maintain_table
from penstock.spark.lake.expiration import Expiration, refresh_writers
from penstock.spark.lake.iceberg import (
    WRITER_CATALOG,
    IcebergTable,
    qualify_table,
    register_writer_catalog,
)
from penstock.tables import WriterRecord, list_writers
from tests.spark.lakes import make_rows, part


@pytest.fixture
def job(spark, monkeypatch):
    """The job, in the session of the tests."""
    monkeypatch.setattr(maintain_lake, "build_session", lambda name: spark)
    return maintain_lake.main


@pytest.fixture
def maintain(job, reader, capsys):
    """Run the job on the table and read the line that it prints."""

    def run(*flags):
        capsys.readouterr()
        job(["--lake-table", reader.name.removeprefix("lake."), *flags])
        (line,) = capsys.readouterr().out.splitlines()
        return json.loads(line)

    return run


def test_files_become_few_and_batches_are_still_known(spark, reader, maintain):
    for number in range(5):
        rows = make_rows(spark, "n int", (number,), first=number).coalesce(1)
        reader.lake.write(rows, part(number, 0))

    done = maintain("--keep-hours", "24")

    assert (done["files_before"], done["files_after"], done["orphans_removed"]) == (5, 1, 0)
    assert done["snapshots_after"] > done["snapshots_before"] == 5  # none of them is old yet

    table = reader.table()
    refresh_writers(table)
    table.expire(2**62)  # as after days without a batch

    assert table.count_snapshots() == 1
    reader.again().write(make_rows(spark, "n int", (4,), first=4), part(4, 0))
    reader.again().write(make_rows(spark, "n int", (5,), first=5), part(5, 0))
    assert reader.query("SELECT n FROM t ORDER BY n") == [(n,) for n in range(6)]


def test_a_table_that_fails_does_not_keep_the_next_one_from_its_maintenance(
    spark, reader, job, capsys
):
    for number in range(5):
        rows = make_rows(spark, "n int", (number,), first=number).coalesce(1)
        reader.lake.write(rows, part(number, 0))
    there = reader.name.removeprefix("lake.")
    missing = f"{there}_that_is_not_there"

    with pytest.raises(SystemExit, match=f"^maintenance failed for {missing}; the errors are"):
        job(["--lake-table", f"{missing},{there}"])

    shown = capsys.readouterr()
    (line,) = shown.out.splitlines()
    done = json.loads(line)
    assert (done["table"], done["files_before"], done["files_after"]) == (reader.name, 5, 1)
    assert missing in shown.err


def test_old_snapshots_are_removed_after_their_markers_are_written_down(spark, reader):
    """Two days later, on a table that had no batch since."""
    for number in range(2):
        reader.lake.write(make_rows(spark, "n int", (number,)), part(number, 0))
    spark.sql(f"DELETE FROM {reader.name} WHERE n = 0")

    flags = ["--lake-table", reader.name.removeprefix("lake."), "--keep-hours", "24"]
    settings = MaintainSettings.from_args([*flags, "--orphan-hours", "10000"])
    done = maintain_table(spark, settings, clock=lambda: time.time() + 49 * 3_600)

    assert done.snapshots_after == 1
    reader.again().write(make_rows(spark, "n int", (1,)), part(1, 0))
    assert reader.query("SELECT n FROM t") == [(1,)]


def test_a_deleted_value_is_in_no_file_once_its_data_file_was_rewritten(spark, reader, lake_folder):
    """Two days later."""
    reader.lake.write(
        make_rows(spark, "n int", *((n,) for n in range(100))).coalesce(1), part(0, 0)
    )
    reader.delete("n = 7")
    files = lake_folder.joinpath(*reader.name.split(".")[1:], "data")
    assert 7 in read_column(files, "n")

    flags = ["--lake-table", reader.name.removeprefix("lake."), "--keep-hours", "24"]
    flags += ["--orphan-hours", "10000", "--delete-files", "1"]
    settings = MaintainSettings.from_args(flags)
    maintain_table(spark, settings, clock=lambda: time.time() + 49 * 3_600)

    assert sorted(read_column(files, "n")) == [n for n in range(100) if n != 7]
    assert reader.query("SELECT count(*) FROM t") == [(99,)]


def read_column(folder, name):
    """Return the values of a column in all Parquet files of a folder, whatever the table says."""
    files = map(pq.ParquetFile, sorted(folder.rglob("*.parquet")))
    return [
        value
        for file in files
        if name in file.schema_arrow.names
        for value in file.read([name])[name].to_pylist()
    ]


@pytest.fixture
def conflict(spark, reader, monkeypatch):
    """Let other commits change the rows of a table while its files are compacted, so many times."""
    sql, commits = type(spark).sql, []

    def run(self, statement, *args, **given):
        if "rewrite_data_files" in statement and commits:
            commits.pop()
            sql(spark, f"UPDATE {reader.name} SET n = n + 10 WHERE _offset = 0")
            statement = statement.replace("CALL lake.", f"CALL {WRITER_CATALOG}.")
        return sql(self, statement, *args, **given)

    def start(times):
        commits.extend([None] * times)
        register_writer_catalog(spark)  # which sees no commit of others before it is refreshed
        IcebergTable(spark, qualify_table(reader.name.removeprefix("lake."), WRITER_CATALOG))

    monkeypatch.setattr(type(spark), "sql", run)
    return start


def test_a_compaction_behind_another_commit_is_tried_again(spark, reader, conflict):
    for number in range(5):
        rows = make_rows(spark, "n int", (number,), first=number).coalesce(1)
        reader.lake.write(rows, part(number, 0))
    conflict(1)

    done = maintain_table(spark, MaintainSettings(reader.name.removeprefix("lake.")))

    assert (done.files_before, done.files_after) == (5, 1)
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (3,), (4,), (10,)]


def test_a_step_that_fails_keeps_no_other_one_from_its_work(spark, reader, conflict, lake_folder):
    """Two days later; the rows of the table change all the time."""
    for number in range(5):
        rows = make_rows(spark, "n int", (number,), first=number).coalesce(1)
        reader.lake.write(rows, part(number, 0))
    data = lake_folder.joinpath(*reader.name.split(".")[1:], "data")
    orphan = data / "of no snapshot.parquet"
    orphan.write_bytes(b"")
    os.utime(orphan, (time.time() - 80 * 3_600,) * 2)
    table = reader.name.removeprefix("lake.")
    settings = MaintainSettings(table, keep_hours=24, orphan_hours=125)
    conflict(99)

    with pytest.raises(ExceptionGroup, match=rf"^{reader.name}: data files failed") as caught:
        maintain_table(spark, settings, clock=lambda: time.time() + 49 * 3_600)

    (error,) = caught.value.exceptions
    assert isinstance(error, SinkUnavailableError)
    assert reader.table().count_snapshots() == 1
    assert not orphan.exists()


def test_a_job_expires_old_snapshots_itself_and_what_only_they_need(spark, reader):
    for number in range(3):  # each adds a column
        columns = ", ".join(f"n{at} int" for at in range(number + 1))
        rows = make_rows(spark, columns, (number,) * (number + 1), first=number)
        reader.lake.write(rows, part(number, 0))
    assert reader.table().count_snapshots() == 3
    later = reader.again()
    later._expiration = Expiration(lambda: time.time() + 6 * 24 * 3_600)
    rows = make_rows(spark, columns, (3, 3, 3), first=3)

    for lake in (later, later, reader.again()):
        lake.write(rows, part(3, 0))

    table = reader.table()
    assert table.count_snapshots() == 1
    assert table._table.schemas().size() == 1
    assert list_writers(table.properties()) == {"q": WriterRecord(3, 1, 4)}
    assert reader.query("SELECT n0, n2 FROM t ORDER BY _offset") == [
        (0, None),
        (1, None),
        (2, 2),
        (3, 3),
    ]


def test_a_table_without_a_row_is_left_alone(spark, reader, maintain):
    reader.lake._open(spark)

    done = maintain()

    assert {done[name] for name in done if name != "table"} == {0}


def test_a_table_that_has_had_no_record_yet_is_left_alone_if_tables_need_not_be_there(
    spark, reader, job, capsys
):
    reader.lake._open(spark)
    there = reader.name.removeprefix("lake.")
    missing = f"{there}_that_is_not_there"

    job(["--lake-table", f"{missing},{there}", "--if-there"])

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.pop("table") for line in lines] == [f"lake.{missing}", reader.name]
    assert [{*line.values()} for line in lines] == [{0}, {0}]


def test_hours_that_are_too_few_are_all_named() -> None:
    flags = ["--lake-table", "db.t", "--keep-hours", "23", "--orphan-hours", "1", "--file-mib", "0"]
    flags += ["--delete-files", "0"]

    with pytest.raises(SettingsError) as caught:
        maintain_lake.main(flags)

    assert caught.value.problems == (
        "--keep-hours is 23, expected 24 or more",
        "--orphan-hours is 1, expected 24 or more",
        "--file-mib is 0, expected 1 or more",
        "--delete-files is 0, expected 1 or more",
    )


def test_tables_are_named_with_spaces_and_never_without_a_name() -> None:
    settings = MaintainSettings.from_args(["--lake-table", "db.a, db.b"])
    assert [each.lake_table for each in settings.by_table()] == ["db.a", "db.b"]

    with pytest.raises(SettingsError, match=r"--lake-table is 'db\.a,', expected"):
        MaintainSettings.from_args(["--lake-table", "db.a,"])
