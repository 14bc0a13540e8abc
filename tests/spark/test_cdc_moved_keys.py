"""Change data capture: a topic gets a partition, and the job reads later changes of rows first.

A key is in the first partition up to some change, and in the new one from then on. The job reads
each in its order, and both at any speed.
"""

from __future__ import annotations

import secrets
from itertools import pairwise

import pytest

from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.dynamodb import CurrentDynamoDbTable
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from tests.spark.changes import LONG, CdcJob, Source
from tests.spark.test_cdc_outputs import read_rows

_ROWS = 40
_CHANGES = 9  # of each row, at most
_BATCHES = 4


@pytest.fixture
def open_job(spark, lake_folder, tmp_path, items):
    """Open a job with outputs of these kinds."""
    name = f"cdc.film_{secrets.token_hex(4)}"
    opened = {
        "current": lambda: CurrentTable(name),
        "dynamodb": lambda: CurrentDynamoDbTable(items.name, 8),
        "history": lambda: HistoryTable(f"{name}_history", UNAVAILABLE),
    }
    return lambda *kinds: CdcJob(spark, tmp_path, name, lambda: [opened[each]() for each in kinds])


@pytest.fixture
def job(open_job):
    return open_job("current", "dynamodb", "history")


def test_a_value_out_of_line_comes_after_a_change_without_it(job, items):
    film = Source()
    film.insert(id=1, title="old", plot=LONG)
    film.update(1, plot=f"{LONG} other", tags=[LONG])
    late = job.place(film.log)
    film.log.clear()
    film.update(1, title="new")
    job.take(job.place([(1, *record) for _, *record in film.log]))
    job.restart()
    for each in late:
        job.take([each])
    assert job.rows() == read_rows(items) == film.rows
    assert read_history(job, "title", "plot", "tags") == [
        (1, 110, 120, "old", LONG, None),
        (1, 120, 130, "old", f"{LONG} other", [LONG]),
        (1, 130, None, "new", f"{LONG} other", [LONG]),
    ]


def test_a_row_is_deleted_before_its_insert_is_read(job, items):
    """Its history has no version yet that the deletion ends."""
    film = Source()
    film.insert(id=1, title="old")
    film.update(1, title="new")
    late = job.place(film.log)
    film.log.clear()
    film.delete(1)
    film.insert(id=1, title="again")
    film.delete(1)
    job.take(job.place([(1, *record) for _, *record in film.log]))
    for _ in range(2):
        job.restart()
        job.take(late, 1)
    assert job.rows() == read_rows(items) == film.rows == {}
    assert read_history(job, "title") == [
        (1, 110, 120, "old"), (1, 120, 130, "new"), (1, 140, 150, "again"),
    ]  # fmt: skip


def test_a_deletion_is_known_when_it_ends_no_version_any_more(open_job):
    """An earlier end of that version is read after it, and then a version that it ends."""
    film, job = Source(), open_job("history")
    film.insert(id=1, title="old")
    film.delete(1)
    film.insert(id=1, title="new")
    inserted, ended, _tombstone, again = ([each] for each in job.place(film.log))
    film.log.clear()
    film.delete(1)
    job.take(inserted)
    job.take(job.place([(1, *record) for _, *record in film.log]))
    job.take(ended)
    job.restart()
    job.take(again)

    assert read_history(job, "title") == [(1, 110, 120, "old"), (1, 130, 140, "new")]
    assert job.spark.table(f"lake.{job.table}_history_deleted").count() == 1


def test_a_value_of_a_batch_that_is_older_than_the_rows(open_job, items):
    """The batch has an older change with a value, and the last one without it."""
    film, job = Source(), open_job("current", "dynamodb")
    film.insert(id=1, title="old", plot=f"{LONG} old")
    (late,) = job.place(film.log)
    film.log.clear()
    film.update(1, plot=f"{LONG} new")
    film.update(1, title="new")
    one, other = job.place([(1, *record) for _, *record in film.log])
    job.take([one])
    job.take([late, other])
    assert job.rows() == read_rows(items) == film.rows


def test_a_table_from_before_gets_places_of_values(spark, open_job):
    film, job = Source(), open_job("current")
    film.insert(id=1, plot=LONG)
    job.take(job.place(film.log))
    assert "_older_lsn" not in spark.table(f"lake.{job.table}").columns
    film.log.clear()
    film.update(1, title="new")
    job.take(job.place(film.log))
    (row,) = spark.table(f"lake.{job.table}").select("_older_lsn").collect()
    assert row[0] == {"plot": 110}


@pytest.mark.nightly
def test_rows_in_any_order_of_their_changes(job, items, seeded):
    for _ in range(20):
        film = Source()
        film.lsn += 1_000_000 * job.number  # a history of its own, of rows of its own
        first = _ROWS * job.number
        versions = _change_rows(film, seeded, first)
        parts = [job.place(each) for each in _divide(film.log, seeded)]
        for pieces in zip(*(_cut(each, seeded) for each in parts), strict=True):
            taken = [record for each in pieces for record in each]
            job.take(taken)
            if seeded.random() < 0.3:  # the driver ended before it noted that the batch was done
                job.restart()
                job.take(taken, job.number - 1)
        for rows in (job.rows(), read_rows(items)):
            assert {at: row for at, row in rows.items() if at >= first} == film.rows
        names = [name for name in film.columns if name != "id"]
        found = read_history(job, *names)
        assert [each for each in found if each[0] >= first] == sorted(versions)


def read_history(job, *names):
    """Return each version of the history: its id, its place, that of its end, its values."""
    columns = ["id", "_lsn", "_until_lsn", *names]
    rows = job.spark.table(f"lake.{job.table}_history").select(*columns).collect()
    return sorted(map(tuple, rows))


def _change_rows(film, random, first):
    """Make changes of rows, those of one between those of others; return the versions of each."""
    made = {}
    turns = [first + at for at in range(_ROWS) for _ in range(random.randint(1, _CHANGES))]
    random.shuffle(turns)
    for at in turns:
        text = f"{random.randrange(10**6)}{random.choice([LONG, ''])}"
        if at not in film.rows:
            film.insert(id=at, title=text, plot=text, tags=random.choice([None, [text]]))
        elif random.random() < 0.25:
            film.delete(at)
        else:
            given = {"title": text, "plot": text, "tags": [text], "rate": 0.5}
            names = random.sample(sorted(given), random.randint(1, 2))
            film.update(at, **{name: given[name] for name in names})
        made.setdefault(at, []).append((film.lsn, film.rows.get(at)))
    return [
        (at, lsn, until, *(value for name, value in row.items() if name != "id"))
        for at, changes in made.items()
        for (lsn, row), (until, _) in pairwise([*changes, (None, None)])
        if row is not None
    ]


def _divide(log, random):
    """Return the records of both partitions: a key moves after any number of its records."""
    keys = [record[2]["id"] for record in log]
    moves = {key: random.randint(0, keys.count(key)) for key in sorted(set(keys))}
    parts = [], []
    for key, (_, *record) in zip(keys, log, strict=True):
        is_moved = moves[key] == 0
        moves[key] -= not is_moved
        parts[is_moved].append((int(is_moved), *record))
    return parts


def _cut(records, random):
    """Return the records of a partition that each batch has: some have many, some none."""
    cuts = sorted(random.randint(0, len(records)) for _ in range(_BATCHES - 1))
    return [records[first:after] for first, after in pairwise([0, *cuts, len(records)])]
