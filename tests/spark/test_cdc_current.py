"""Change data capture: an Iceberg table is equal to the table of the database."""

from __future__ import annotations

from itertools import count

import pytest

from penstock.errors import JobError
from penstock.spark import MaintainSettings, maintain_table
from tests.spark.changes import LONG, CdcJob, Source, change_at_random
from tests.spark.lakes import LakeReader

_NAMES = count()


@pytest.fixture
def job(spark, lake_folder, tmp_path):
    return CdcJob(spark, tmp_path, f"cdc.film_{next(_NAMES)}")


@pytest.mark.parametrize("flattened", [(False, False), (True, True), (False, True)])
@pytest.mark.parametrize("full", [False, True])
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
    open_since = film.lsn + 5
    film.snapshot()
    film.lsn, snapshot = open_since, film.lsn
    film.update(1, title="in a transaction that was open, and commits after the snapshot")
    film.insert(id=4, title="in the same")
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
    film.log.clear()
    film.truncate()
    job.restart()
    job.take(job.place([(1, *record) for _, *record in film.log]))
    assert job.rows() == film.rows == {}


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


def test_a_row_that_changes_often_costs_one_row(job):
    film = Source()
    film.insert(id=1)
    for at in range(50):
        film.update(1, rate=float(at))
    job.take(job.place(film.log))
    (files,) = job.spark.table(f"lake.{job.table}.files").select("record_count").collect()
    assert files.record_count == 1


def test_maintenance_applies_deletions_that_readers_see(spark, lake_folder, job):
    film = Source()
    for at in range(4):
        film.insert(id=at, title="0")
    job.take(job.place(film.log))
    for at in range(4):  # each batch deletes one of its rows
        film.log.clear()
        film.update(at, title="1") if at != 2 else film.delete(at)
        job.take(job.place(film.log))
    reader = LakeReader(spark, lake_folder, job.table)
    seen = "SELECT id, title FROM t ORDER BY id"
    expected = [(0, "1"), (1, "1"), (3, "1")]
    assert reader.query(seen) == expected
    assert spark.table(f"lake.{job.table}.delete_files").count() > 0
    maintain_table(spark, MaintainSettings(job.table))
    assert reader.query(seen) == expected
    assert spark.table(f"lake.{job.table}.delete_files").count() == 0
    assert job.rows() == film.rows


def test_records_that_do_not_say_what_changed_stop_the_job(job):
    film = Source(flattened=True)
    film.insert(id=1)
    place, key, values, schema, value = film.log.pop()
    schema["fields"] = [each for each in schema["fields"] if each["name"] != "__deleted"]
    del value["__deleted"]
    with pytest.raises(JobError, match=r"without __deleted, expected Debezium's envelopes, or"):
        job.take(job.place([(place, key, values, schema, value)]))


def test_both_forms_of_a_column_that_envelopes_have_stop_the_job(job):
    film = Source(columns={"id": ("int", 0), "op": ("string", "")})
    film.insert(id=1, op="a")
    film.flattened = True
    film.insert(id=2, op="b")
    with pytest.raises(JobError, match=r"both envelopes and flattened records.*too: op; expected"):
        job.take(job.place(film.log))


@pytest.mark.parametrize(("full", "flattened"), [(False, False), (True, True)])
def test_generated_histories(job, seeded, trials, full, flattened):
    """Batches of any size, that come again, and records that Kafka Connect wrote again."""
    film = Source(full=full, flattened=flattened)
    for _ in range(trials(1, 20)):
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
