"""Change data capture: whole numbers for columns that are doubles, which would round them."""

from __future__ import annotations

from itertools import count

import pytest

from penstock.errors import JobError
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from tests.spark.changes import CdcJob, Source

_NAMES = count()
_EXACT, _ROUNDED = 2**53, 2**53 + 1
_WHOLE, _DOUBLE = (["null", "long"], None), (["null", "double"], None)


@pytest.fixture
def open_job(spark, lake_folder, tmp_path):
    """Return a function that opens a job on the table with a checkpoint of its own."""
    table = f"cdc.numbers_{next(_NAMES)}"

    def open_job(output=CurrentTable):
        folder = tmp_path / f"{next(_NAMES)}"
        folder.mkdir()
        return CdcJob(spark, folder, table, lambda: [output(table)])

    return open_job


def _open_history(table):
    return HistoryTable(table, UNAVAILABLE)


@pytest.mark.parametrize("output", [CurrentTable, _open_history])
def test_a_number_that_the_column_would_round_stops_the_job(open_job, output):
    """The table is from another job, so no version of this one stops the record before."""
    film, job = Source(), open_job(output)
    film.insert(id=1, rate=0.5)
    job.take(job.place(film.log))
    before = job.rows()
    film.log.clear()

    film.columns["rate"] = _WHOLE
    film.insert(id=2, rate=_EXACT)
    film.truncate()
    film.insert(id=3, rate=_ROUNDED)
    job = open_job(output)
    with pytest.raises(JobError) as caught:
        job.take(job.place(film.log))

    assert str(caught.value) == (
        "found a whole number beyond 2^53 in rate of pagila.public.film/0/2, expected one that its"
        " column holds: it is a double, which would round the number. Write new tables with a new"
        " checkpoint, from a snapshot"
    )
    assert job.rows() == before


def test_a_number_that_flattened_records_would_round_stops_the_job(open_job):
    film, job = Source(), open_job()
    film.columns["rate"] = _WHOLE
    film.insert(id=1, rate=_EXACT)
    film.insert(id=2, rate=_ROUNDED)
    film.flattened, film.columns["rate"] = True, _DOUBLE
    film.insert(id=3, rate=0.5)
    first, second, third = job.place(film.log)

    job.take([first, third])
    assert {at: row["rate"] for at, row in job.rows().items()} == {1: _EXACT, 3: 0.5}
    with pytest.raises(JobError, match=r"beyond 2\^53 in rate of pagila\.public\.film/0/1,"):
        job.take([second])


def test_rows_from_before_a_column_was_a_double_are_mended_by_a_snapshot(open_job):
    film, job = Source(), open_job()
    film.columns["rate"] = _WHOLE
    film.insert(id=1, rate=_ROUNDED)
    film.insert(id=2, rate=7)
    old = job.place(film.log)
    job.take(old)
    film.log.clear()
    film.columns["rate"] = _DOUBLE
    for row in film.rows.values():  # the log has nothing of it
        row["rate"] = float(row["rate"])
    film.insert(id=3, rate=0.5)
    job.take(job.place(film.log))
    film.log.clear()

    assert _read_rates(job) == {1: (None, _ROUNDED), 2: (7.0, 7), 3: (0.5, None)}
    job.take(old)
    assert list(job.errors.reasons().items()) == [(0, "lossy-widening")]
    film.snapshot()
    job.take(job.place(film.log))
    assert {at: rate for at, (rate, _) in _read_rates(job).items()} == {
        at: row["rate"] for at, row in film.rows.items()
    }


def _read_rates(job):
    """The numbers of each row, and those from before the column was a double."""
    return {at: (row["rate"], row["_before_1_rate"]) for at, row in job.rows().items()}
