"""Change data capture: the database is restored to an earlier place of its log."""

from __future__ import annotations

import secrets
from copy import deepcopy

import pytest

from penstock.errors import JobError
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from tests.spark.changes import CdcJob, Source

_HOUR_MS = 3_600_000
_CHANGES = {
    "insert": lambda film: film.insert(id=3, title="lost"),
    "update": lambda film: film.update(1, title="lost"),
    "delete": lambda film: film.delete(2),
    "truncate": lambda film: film.truncate(),
    "snapshot": lambda film: film.snapshot(),
}


@pytest.fixture
def open_job(spark, lake_folder, tmp_path):
    """Open a job with outputs of these kinds, and a checkpoint of its own."""
    table = f"cdc.film_{secrets.token_hex(4)}"
    opened = {
        "current": lambda: CurrentTable(table),
        "history": lambda: HistoryTable(f"{table}_history", UNAVAILABLE),
    }

    def open_job(*kinds, registry=None):
        folder = tmp_path / secrets.token_hex(4)
        folder.mkdir()
        return CdcJob(spark, folder, table, lambda: [opened[each]() for each in kinds], registry)

    return open_job


@pytest.mark.parametrize(
    ("change", "outputs", "batches"),
    [
        ("insert", ["current"], 2),
        pytest.param("update", ["current"], 1, marks=pytest.mark.nightly),
        ("delete", ["current"], 1),
        ("update", ["history"], 2),
        ("delete", ["history"], 1),
        ("truncate", [], 1),
        ("snapshot", [], 2),
    ],
)
def test_a_database_that_was_restored_stops_the_job(open_job, change, outputs, batches):
    """Its places grow again from an earlier one: tables would keep what it does not have."""
    film, job = Source(), open_job(*outputs)
    for at in (1, 2):
        film.insert(id=at, title="old")
    job.take(job.place(film.log))
    film.log.clear()
    kept, place = deepcopy(film.rows), film.lsn
    film.lsn += 100
    _CHANGES[change](film)
    if batches == 2:
        job.take(job.place(film.log))
        film.log.clear()

    film.rows, film.lsn, film.clock_ms = kept, place, film.clock_ms + _HOUR_MS
    film.snapshot()
    placed = job.place(film.log)
    for _ in range(1 if change in {"update", "delete"} else 2):  # not by starting again either
        job.restart()
        with pytest.raises(JobError, match=(
            r"found changes of pagila\.public\.film from before its last snapshot at later places"
            r" of the database's log, expected earlier ones: the database was restored or replaced;"
            r" write new tables with a new checkpoint, as docs/cdc\.md says"
        )):  # fmt: skip
            job.take(placed, batches)


def test_a_database_that_was_not_restored_does_not_stop_the_job(open_job):
    """Its connector snapshots again, a partition is ahead, and a new checkpoint reads all again."""
    film, job, log = Source(partitions=2), open_job("current", "history"), []

    def take(*parts):
        placed = job.place(film.log)
        film.log.clear()
        for partitions in parts:
            job.take([each for each in placed if each[0] in partitions])
        log.extend(placed)
        assert job.rows() == film.rows

    def snapshot():
        film.clock_ms += _HOUR_MS
        film.snapshot()
        film.clock_ms += _HOUR_MS

    for at in range(6):
        film.insert(id=at, title="old")
    take({0, 1})
    snapshot()
    film.update(1, title="new")
    film.delete(2)
    film.insert(id=7, title="new")
    film.read_incrementally(3)
    film.commit = None
    film.update(3, title="newer")
    snapshot()
    film.delete(4)
    snapshot()
    film.update(1, title="newest")  # its partition is taken first, and is ahead of the snapshot
    take({1}, {0})
    film.truncate()
    for at in (8, 9):
        film.insert(id=at, title="last")
    snapshot()
    take({1}, {0})

    other = open_job("current", "history", registry=job.registry)
    for at in range(0, len(log), 20):
        other.take(log[at : at + 20])
    assert job.rows() == film.rows
