"""Change data capture: changes from before a snapshot, and batches of a job that stalled."""

from __future__ import annotations

import secrets
import time

import pytest

from penstock.errors import CheckpointInUseError, SinkUnavailableError
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.dynamodb import CurrentDynamoDbTable
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.net import LogState, Moment
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.extensions.cdc.spark.sink import LogStates
from penstock.spark import MaintainSettings, maintain_table
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.state.lease import NoLease
from tests.spark.changes import CdcJob, Source
from tests.spark.test_cdc_moved_keys import read_history
from tests.spark.test_cdc_outputs import read_rows


@pytest.fixture
def table(spark, lake_folder):
    return f"cdc.film_{secrets.token_hex(4)}"


@pytest.fixture
def job(spark, table, items, tmp_path):
    return CdcJob(
        spark,
        tmp_path,
        table,
        lambda: [
            CurrentTable(table),
            CurrentDynamoDbTable(items.name, 8),
            HistoryTable(f"{table}_history", UNAVAILABLE),
        ],
    )


def _divide(log):
    """Return records with the partitions of their keys: odd ones are in the first."""
    return [(1 - record[2]["id"] % 2, *rest) for record in log for _, *rest in [record]]


def _find_valid(job):
    return {row[0]: row[3] for row in read_history(job, "title") if row[2] is None}


def test_a_change_from_before_a_whole_snapshot_is_over(job, items):
    """The job is behind in one partition, and reads the snapshot of another one first."""
    film = Source()
    for at in (1, 2, 3):
        film.insert(id=at, title="old")
    job.take(job.place(_divide(film.log)))
    film.log.clear()
    film.update(2, title="new")
    film.insert(id=4, title="new")
    late = job.place(_divide(film.log))
    film.log.clear()
    del film.rows[2], film.rows[4]  # while nobody reads the log
    film.snapshot()
    job.take(job.place(_divide(film.log)))
    for number in (job.number, None):
        job.restart()
        job.take(late, number)
        assert job.rows() == read_rows(items) == film.rows
        assert _find_valid(job) == {1: "old", 3: "old"}
        assert (4, 150, 160, "new") in read_history(job, "title")


@pytest.mark.parametrize("batches", [1, 2])
def test_a_transaction_that_was_open_during_a_snapshot_stays(job, items, batches):
    """Its rows are in a partition without a record of the snapshot."""
    film = Source()
    film.insert(id=1, title="old")
    film.snapshot()
    snapshot, film.lsn = film.lsn, film.lsn - 15
    film.insert(id=2, title="in a transaction that was open")
    assert film.lsn < snapshot
    placed = job.place(_divide(film.log))
    job.take(placed[:2] if batches == 2 else placed)
    job.take(placed[2:])
    assert job.rows() == read_rows(items) == film.rows
    assert _find_valid(job) == {at: row["title"] for at, row in film.rows.items()}


class _Stall:
    """A lease that another job takes, and works under, right after it was checked."""

    fence = 0

    def __init__(self, others):
        self.others = others

    def check(self):
        others, self.others = self.others, lambda: None
        others()


def _change_rows(film):
    film.update(1, title="new")
    film.update(2, title="new")
    yield
    film.delete(1)
    film.update(2, title="newer")
    yield


def _insert_and_delete(film):
    """Make versions that end in their batch, so that none of them is ever valid."""
    for at in (3, 4):
        film.insert(id=at, title="short")
        film.delete(at)
        yield


@pytest.mark.parametrize(
    ("kind", "make_batches"),
    [("current", _change_rows), ("history", _change_rows), ("history", _insert_and_delete)],
)
def test_a_job_that_stalled_writes_nothing_over_another_one(
    spark, table, tmp_path, kind, make_batches
):
    def make_outputs():
        history = HistoryTable(f"{table}_history", UNAVAILABLE)
        return [CurrentTable(table) if kind == "current" else history]

    def read():
        return job.rows() if kind == "current" else read_history(job, "title")

    jobs = [tmp_path / name for name in ("one", "other")]
    for folder in jobs:
        folder.mkdir()
    job = CdcJob(spark, jobs[0], table, make_outputs)
    session = spark.newSession()  # which loads tables for itself, as another driver does
    for name, text in spark.conf.getAll.items():
        if name.startswith("spark.sql.catalog.lake"):
            session.conf.set(name, text)
    other = CdcJob(session, jobs[1], table, make_outputs, job.registry)
    film = Source()
    for at in (1, 2):
        film.insert(id=at, title="old")
    job.take(job.place(film.log))
    batches = []
    film.log.clear()
    for _ in make_batches(film):
        batches.append(job.place(film.log))
        film.log.clear()
    written = []

    def take_over():
        for number, batch in enumerate(batches, 1):
            other.take(batch, number)
        written.append(read())

    job.lease = _Stall(take_over)
    job.restart()
    with pytest.raises(SinkUnavailableError, match=r"another commit to lake.* came first"):
        job.take(batches[0])
    assert [read()] == written
    job.restart()
    job.take(batches[0], 1)
    assert [read()] == written


def test_the_state_of_a_job_that_stalled_is_not_the_last_one(spark, tmp_path):
    states = LogStates(spark, str(tmp_path / "cdc"))
    states.write(LogState(key=("id",)), NoLease())
    found = [LogState(complete=Moment(lsn, lsn, -1, 0)) for lsn in (1, 2)]

    def take_over():
        for each in found:
            states.write(each, NoLease())

    states.write(LogState(), _Stall(take_over))
    assert states.read() == found[-1]
    found.pop()
    with pytest.raises(CheckpointInUseError):
        states.write(LogState(), _Stall(take_over))
    assert states.read() == found[-1]


@pytest.mark.parametrize("kind", ["current", "history"])
def test_the_key_of_a_deleted_row_is_forgotten_without_another_deletion(
    spark, table, tmp_path, kind
):
    history = HistoryTable(f"{table}_history", UNAVAILABLE, 8)
    output = CurrentTable(table, remembered_days=8) if kind == "current" else history
    now, name = [time.time()], f"{output.name}_deleted"
    output._deletions._clock = lambda: now[0]
    job, film = CdcJob(spark, tmp_path, table, lambda: [output]), Source()

    def take(days):
        now[0] += days * 86_400
        film.insert(id=film.lsn)
        job.take(job.place(film.log))
        film.log.clear()
        return spark.table(name).count(), IcebergTable(spark, name).count_snapshots()

    film.insert(id=0)
    film.log.clear()  # the job reads the deletion first
    film.delete(0)
    assert take(0) == take(7) == (1, 1)
    assert take(2) == take(2) == (0, 2)


def test_maintenance_gives_no_row_a_value_of_before(spark, table, tmp_path):
    """A column was widened, and the row has got another value since."""
    film = Source(columns={"id": ("int", 0), "amount": (["null", "int"], None)})
    job = CdcJob(spark, tmp_path, table)
    for at in (1, 2):
        film.insert(id=at, amount=5)
    job.take(job.place(film.log))
    film.log.clear()
    film.columns["amount"] = (["null", "double"], None)
    film.update(2, amount=0.5)
    film.update(1, amount=None)
    job.take(job.place(film.log))
    maintain_table(spark, MaintainSettings(table))
    rows = spark.table(f"lake.{table}").select("id", "amount").collect()
    assert {row.id: row.asDict() for row in rows} == film.rows
