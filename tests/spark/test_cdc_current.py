"""Change data capture: an Iceberg table is equal to the table of the database."""

from __future__ import annotations

import secrets
import time
from itertools import count

import pytest

from penstock.errors import JobError
from penstock.extensions.cdc.spark import current
from penstock.extensions.cdc.spark.current import CurrentTable, Deletions
from penstock.spark import MaintainSettings, maintain_table
from penstock.spark.lake.iceberg import IcebergTable
from tests.spark.changes import LONG, NOON_MS, CdcJob, Source, change_at_random
from tests.spark.lakes import LakeReader

_NAMES = count()


@pytest.fixture
def job(spark, lake_folder, tmp_path):
    return CdcJob(spark, tmp_path, f"cdc.film_{next(_NAMES)}")


@pytest.mark.parametrize(
    ("full", "flattened"),
    [
        (False, (False, True)),
        pytest.param(True, (False, False), marks=pytest.mark.nightly),
        (True, (True, True)),
    ],
)
def test_the_table_is_equal_to_the_databases(job, full, flattened):
    """Also if its connector gets the transform that flattens records."""
    film = Source(full=full, flattened=flattened[0])
    film.insert(id=1, title="ACADEMY DINOSAUR", plot=LONG, tags=[LONG, "b"], rate=0.99)
    film.insert(id=2, title="ACE GOLDFINGER", plot="short")
    film.insert(id=3, title="ADAPTATION HOLES")
    film.snapshot()
    job.take(job.place(film.log))
    assert job.rows() == film.rows

    film.log.clear()
    film.update(1, rate=2.99)  # its plot and tags are out of line, and are not in the log
    film.flattened = flattened[1]
    film.update(2, title="changed", plot=None)
    film.update(3, id=30)
    film.insert(id=4, title="new", plot=LONG)
    film.update(4, title="newer")
    film.delete(2)
    placed = job.place(film.log)
    job.take(placed)
    assert job.rows() == film.rows

    job.restart()
    job.take(placed, 1)  # the driver ended before it noted that the batch was done
    assert job.rows() == film.rows
    assert job.errors.read() == {}


def test_an_older_change_that_comes_later_changes_nothing(job):
    """A key moves to another Kafka partition, which the job reads first."""
    film = Source()
    for at in (1, 2):
        film.insert(id=at, title="old")
    before = job.place(film.log)
    film.log.clear()
    film.update(1, title="new")
    film.delete(2)
    moved = [(1, *record) for _, *record in film.log]
    job.take(job.place(moved))
    job.restart()
    job.take(before)
    assert job.rows() == film.rows


def test_a_snapshot_again_deletes_what_it_lacks(job):
    film = Source()
    for at in (1, 2, 3):
        film.insert(id=at, title="a", plot=LONG)
    job.take(job.place(film.log))

    film.log.clear()
    del film.rows[2]  # while nobody reads the log
    film.rows[3]["title"] = "changed"
    film.snapshot()
    snapshot, before = film.lsn, film.lsn - 15  # each change adds 10
    film.lsn = before
    film.update(1, title="in a transaction that was open, and commits after the snapshot")
    film.lsn = before
    film.insert(id=4, title="in the same")
    assert film.lsn < snapshot
    film.lsn = snapshot
    placed = job.place(film.log)
    job.take(placed)
    assert job.rows() == film.rows
    job.restart()
    job.take(placed, 1)
    assert job.rows() == film.rows


def test_a_truncation_ends_what_was_before_it(job):
    film = Source()
    film.insert(id=1, title="a")
    late = job.place(film.log)
    film.log.clear()
    film.insert(id=2, title="b")
    film.truncate()
    film.insert(id=3, title="c")
    job.take(job.place([(1, *record) for _, *record in film.log]))
    job.take(late)
    assert job.rows() == film.rows
    film.log.clear()
    film.truncate()
    job.restart()
    job.take(job.place([(1, *record) for _, *record in film.log]))
    assert job.rows() == film.rows == {}


def test_a_change_from_before_another_commit_comes_after_it(job):
    """PostgreSQL writes a row to its log before it waits for other transactions."""
    film = Source()
    film.insert(id=1, title="a")
    film.delete(1)
    film.lsn, film.commit = film.lsn - 15, film.lsn + 3
    film.insert(id=1, title="waited for the one that deleted it")
    for each in job.place(film.log):
        job.take([each])
    assert job.rows() == film.rows != {}
    film.commit = None
    film.lsn += 10
    film.log.clear()

    film.insert(id=2, title="read by an incremental snapshot")
    before = film.lsn
    film.read_incrementally(2)
    film.lsn, film.commit = before, film.lsn + 3
    film.update(2, title="in a transaction that was open meanwhile")
    for each in job.place(film.log):
        job.take([each])
    assert job.rows() == film.rows


@pytest.mark.parametrize("size", [1, 4])
def test_a_transaction_truncates_what_it_wrote(job, size):
    """Another one commits meanwhile, so all its changes come after that commit."""
    film = Source()
    film.insert(id=1, title="a")
    film.commit = film.lsn + 50
    film.insert(id=2, title="b")
    film.truncate()
    film.insert(id=3, title="c")
    placed = job.place(film.log)
    for at in range(0, len(placed), size):
        job.take(placed[at : at + size])
        job.restart()
        job.take(placed[at : at + size], job.number - 1)
    assert job.rows() == film.rows != {}


def test_a_primary_key_that_changes_stops_the_job(job):
    film = Source()
    film.insert(id=1, title="a")
    job.take(job.place(film.log))
    film.log.clear()
    film.key = ("id", "title")
    film.insert(id=1, title="b")
    job.restart()
    with pytest.raises(JobError, match=r"with the primary key id, title, expected id as before"):
        job.take(job.place(film.log))
    film.log.clear()
    film.key = ()
    film.insert(id=2, title="c")
    with pytest.raises(JobError, match=r"found 1 changes of .* without a key, expected a table w"):
        job.take(job.place(film.log))
    assert job.rows() == {1: {**film.rows[1], "title": "a"}}


def test_a_dropped_column_is_null_in_rows_that_change(job):
    """Also if no record of the batch has it."""
    film = Source()
    film.insert(id=1, title="a", rate=0.5)
    film.insert(id=2, title="b", rate=0.5)
    job.take(job.place(film.log))
    film.log.clear()
    film.drop_column("rate")
    film.update(1, title="c")
    job.restart()
    job.take(job.place(film.log))
    assert job.rows() == {1: {**film.rows[1], "rate": None}, 2: {**film.rows[2], "rate": 0.5}}


def test_columns_change_while_the_job_runs(job):
    film = Source()
    film.insert(id=1, title="a", rate=0.5)
    film.add_column("Title", ["null", "string"])
    film.insert(id=2, title="b", Title="B")
    job.take(job.place(film.log))
    film.log.clear()
    film.add_column("length", ["null", "int"])
    film.insert(id=3, length=1)
    film.columns["length"] = (["null", "long"], None)
    film.update(3, length=2**40)
    film.drop_column("rate")
    film.update(1, length=7)
    job.take(job.place(film.log))
    assert job.rows() == {
        at: {**{name: row[name] for name in row if name != "Title"},
             "Title_2": row["Title"], "rate": None}
        for at, row in film.rows.items()
    }  # fmt: skip
    assert dict(job.spark.table(f"lake.{job.table}").dtypes)["length"] == "bigint"


def test_a_key_grows_and_its_deleted_rows_stay_deleted(job):
    film = Source()
    film.insert(id=1)
    film.insert(id=2)
    film.delete(1)
    job.take(job.place(film.log))
    film.log.clear()
    film.columns["id"] = ("long", 0)
    film.insert(id=2**40)
    late = job.place(film.log)
    film.log.clear()
    film.delete(2**40)
    job.take(job.place(film.log))
    job.take(late)  # as after the topic got partitions

    assert job.rows() == film.rows
    assert dict(job.spark.table(f"lake.{job.table}_deleted").dtypes)["id"] == "bigint"


def test_a_row_that_changes_often_costs_one_row(job):
    film = Source()
    film.insert(id=1)
    job.take(job.place(film.log))
    film.log.clear()
    for at in range(100):
        film.update(1, rate=float(at))
    job.take(job.place(film.log))
    files = job.spark.table(f"lake.{job.table}.all_files").select("content", "record_count")
    assert sorted(map(tuple, files.collect())) == [(0, 1), (0, 1), (1, 1)]  # 1: a delete file
    assert job.rows() == film.rows


def test_files_stay_few_without_maintenance(job, monkeypatch):
    """Each batch of rows at random adds files, and a delete file for each file that is there."""
    monkeypatch.setattr(current, "_COMPACTED_COMMITS", 3)
    film = Source()
    for at in range(8):
        film.insert(id=at, title="0")
    for batch in range(4):
        job.take(job.place(film.log))
        data, deletes = (
            job.spark.table(f"lake.{job.table}.{each}").count()
            for each in ("data_files", "delete_files")
        )
        assert deletes <= data <= 3
        film.log.clear()
        film.delete(batch) if batch < 3 else film.insert(id=10 + batch, title="new")
        film.update(7, rate=float(batch))
        film.update(6, rate=float(batch))
    job.take(job.place(film.log))
    assert job.rows() == film.rows


def test_files_of_maintenance_stay_whole_while_changes_come(spark, job, monkeypatch):
    """They are larger than those that the job makes of small ones."""
    monkeypatch.setattr(current, "_COMPACTED_BYTES", 8 * 2**10)
    monkeypatch.setattr(current, "_COMPACTED_COMMITS", 4)
    film = Source()
    for _ in range(3):
        for _ in range(7):
            film.insert(id=len(film.rows), title="0", plot=secrets.token_hex(2**12))
        job.take(job.place(film.log))
        film.log.clear()
    maintain_table(spark, MaintainSettings(job.table))
    ((path, size),) = _find_files(job)
    assert size > 2 * current._COMPACTED_BYTES

    for number in range(3):
        film.update(0, rate=float(number))
        job.take(job.place(film.log))
        film.log.clear()
    left = _find_files(job)
    assert (path, size) in left
    assert len(left) < 4
    assert job.rows() == film.rows


def _find_files(job):
    files = job.spark.table(f"lake.{job.table}.data_files")
    return [*map(tuple, files.select("file_path", "file_size_in_bytes").collect())]


def test_maintenance_applies_deletions_that_readers_see(spark, lake_folder, job):
    film = Source()
    for at in range(4):
        film.insert(id=at, title="0")
    job.take(job.place(film.log))
    for at in (1, 2):  # each batch deletes one of its rows
        film.log.clear()
        film.update(at, title="1") if at != 2 else film.delete(at)
        job.take(job.place(film.log))
    reader = LakeReader(spark, lake_folder, job.table)
    seen = "SELECT id, title FROM t ORDER BY id"
    expected = [(0, "0"), (1, "1"), (3, "0")]
    assert reader.query(seen) == expected
    assert spark.table(f"lake.{job.table}.delete_files").count() > 0
    maintain_table(spark, MaintainSettings(job.table))
    assert reader.query(seen) == expected
    assert spark.table(f"lake.{job.table}.delete_files").count() == 0
    assert job.rows() == film.rows


def test_what_is_remembered_of_deletions_is_bounded(spark, job):
    """A batch is one commit; maintenance compacts it, and old deletions are forgotten."""
    name = f"{job.table}_deleted"
    now = [NOON_MS / 1_000]
    table = CurrentTable(job.table)
    table._deletions = Deletions(name, 8, lambda: now[0])
    job.outputs = lambda: [table]
    job.restart()

    def delete(at):
        film = Source()
        film.lsn += 100 * at
        film.insert(id=at)
        film.delete(at)
        job.take(job.place(film.log))

    for at in range(5):
        delete(at)
    deleted = spark.table(f"lake.{name}")
    assert IcebergTable(spark, f"lake.{name}").count_snapshots() == 5
    maintain_table(spark, MaintainSettings(name))
    assert spark.table(f"lake.{name}.files").count() == 1
    assert sorted(row.id for row in deleted.collect()) == [0, 1, 2, 3, 4]

    spark.sql(f"ALTER TABLE lake.{name} DROP COLUMN _remembered_at")  # as in an older table
    now[0] = time.time() + 30 * 86_400
    delete(5)  # the database made it long ago: a capture that stood still has written it now
    assert [row.id for row in spark.table(f"lake.{name}").collect()] == [5]
    assert IcebergTable(spark, f"lake.{name}").count_snapshots() == 1


def test_records_that_do_not_say_what_changed_stop_the_job(job):
    film = Source(flattened=True)
    film.insert(id=1)
    *head, schema, value, sent = film.log.pop()
    schema["fields"] = [each for each in schema["fields"] if each["name"] != "__deleted"]
    del value["__deleted"]
    with pytest.raises(JobError, match=r"without __deleted, expected Debezium's envelopes, or"):
        job.take(job.place([(*head, schema, value, sent)]))


def test_both_forms_of_a_column_that_envelopes_have_stop_the_job(job):
    film = Source(columns={"id": ("int", 0), "op": ("string", "")})
    film.insert(id=1, op="a")
    film.flattened = True
    film.insert(id=2, op="b")
    with pytest.raises(JobError, match=r"both envelopes and flattened records.*too: op; expected"):
        job.take(job.place(film.log))


@pytest.mark.nightly
@pytest.mark.parametrize(("full", "flattened"), [(False, False), (True, True)])
def test_generated_histories(job, seeded, full, flattened):
    """Batches of any size, that come again, and records that Kafka Connect wrote again."""
    film = Source(full=full, flattened=flattened)
    for _ in range(20):
        change_at_random(film, seeded, 15)
        left = job.place(film.log)
        if seeded.random() < 0.5:  # the connector ended before it noted its place
            left += job.place(film.log[seeded.randrange(len(film.log)) :])
        film.log.clear()
        while left:
            size = seeded.randrange(1, len(left) + 1)
            taken, left = left[:size], left[size:]
            job.take(taken)
            if seeded.random() < 0.5:
                job.restart()
                job.take(taken, job.number - 1)
        assert job.rows() == film.rows
