"""Change data capture: DynamoDB, history, files and a refined table, of one history."""

from __future__ import annotations

import secrets
import time
from decimal import Decimal
from itertools import count, pairwise

import pytest

from penstock.errors import CheckpointError, CheckpointInUseError
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.dynamodb import CurrentDynamoDbTable
from penstock.extensions.cdc.spark.envelope import flatten_records, read_records
from penstock.extensions.cdc.spark.files import ChangeFiles
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.refined import RefinedTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.spark.lake.expiration import Expiration
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.state.lease import NoLease
from tests.spark.changes import LONG, CdcJob, Source


def _make_history(film):
    """Yield what happens in each of three batches."""
    film.insert(id=1, title="a", plot=LONG, tags=[LONG], rate=0.99)
    film.insert(id=2, title="b")
    film.insert(id=3, title="c")
    film.snapshot()
    yield
    film.update(1, rate=2.99)
    film.update(1, title="A")
    film.update(2, title="B")
    film.update(3, id=30)
    film.delete(2)
    yield
    film.insert(id=2, title="again")
    film.update(1, plot=f"{LONG} other")
    film.update(1, rate=None)
    yield
    film.insert(id=8, title="truncated in its batch")
    film.truncate()
    film.insert(id=7, title="after", rate=0.99)
    film.insert(id=8, title="again")
    yield


def test_every_output_has_each_change_once(spark, lake_folder, tmp_path, items):
    name = f"cdc.film_{secrets.token_hex(4)}"
    refined = f"SELECT id, title, rate FROM lake.{name} WHERE rate IS NOT NULL"
    job = CdcJob(
        spark,
        tmp_path,
        name,
        lambda: [
            ChangeFiles(f"{tmp_path}/raw", 3, read_records),
            ChangeFiles(f"{tmp_path}/flat", 3, lambda rows: flatten_records(rows, UNAVAILABLE)),
            CurrentTable(name),
            HistoryTable(f"{name}_history", UNAVAILABLE),
            CurrentDynamoDbTable(items.name, 8),
            RefinedTable(f"{name}_refined", refined, "rate"),
        ],
    )
    film = Source()
    written = 0
    for turn, _ in enumerate(_make_history(film)):
        placed = job.place(film.log)
        written += sum(value is not None for *_, value, _ in placed)
        film.log.clear()
        job.take(placed)
        if turn % 2:
            job.restart()
            job.take(placed, job.number - 1)  # the driver ended before it noted that it was done

        assert job.rows() == film.rows
        assert read_rows(items) == film.rows
        assert _read_valid(spark, f"lake.{name}_history") == film.rows

    _check_versions(spark.table(f"lake.{name}_history").collect())
    raw = spark.read.parquet(f"{tmp_path}/raw/topics/pagila.public.film")
    assert raw.count() == raw.select("partition", "_offset").distinct().count() == written
    assert {"before", "after", "source", "op"} <= set(raw.columns)
    files = list((tmp_path / "raw").rglob("*.gz.parquet"))
    assert max(spark.read.parquet(str(each)).count() for each in files) == 3
    flat = spark.read.parquet(f"{tmp_path}/flat/topics/pagila.public.film")
    (deleted,) = flat.filter("id = 2 AND __deleted = 'true'").collect()
    assert (deleted["__op"], deleted["__table"], deleted["title"]) == ("d", "film", "")
    assert flat.filter("__op = 'r'").count() == 3
    found = spark.table(f"lake.{name}_refined").collect()
    assert [each.asDict() for each in found] == [{"id": 7, "title": "after", "rate": 0.99}]


def test_a_refined_table_has_a_commit_for_each_result(spark, lake_folder, tmp_path):
    """Creating the table again would restore snapshots that expire meanwhile."""
    name, number = f"cdc.film_{secrets.token_hex(4)}", count()
    query = f"SELECT id, SMALLINT(id) AS few, DECIMAL(rate) AS rate FROM lake.{name} WHERE rate > 1"
    refined = [RefinedTable(f"{name}_refined", query, "few")]
    job = CdcJob(spark, tmp_path, name, lambda: [CurrentTable(name), *refined])
    film, found = Source(), f"lake.{name}_refined"

    def change(rate):
        film.log.clear()
        film.insert(id=next(number), rate=rate)
        job.take(job.place(film.log))
        return spark.table(found)

    def list_commits():
        commits = spark.table(f"{found}.snapshots").orderBy("committed_at").collect()
        return [each.parent_id for each in commits], [each.snapshot_id for each in commits]

    first, second = change(2.0), change(3.0)
    assert first.dtypes == second.dtypes
    assert sorted(second.collect()) == [(0, 0, 2), (1, 1, 3)]
    parents, ids = list_commits()
    assert parents == [None, ids[0]]
    properties = IcebergTable(spark, found).properties()
    assert properties["write.metadata.delete-after-commit.enabled"] == "true"
    assert properties["write.parquet.compression-codec"] == "snappy"

    refined[0] = RefinedTable(f"{name}_refined", f"SELECT id FROM lake.{name} WHERE id > 9")
    job.restart()
    assert change(4.0).dtypes == [("id", "int")]
    assert change(5.0).collect() == []


def test_results_of_a_refined_table_that_were_replaced_are_kept_for_an_hour(
    spark, lake_folder, tmp_path
):
    name, later = f"cdc.film_{secrets.token_hex(4)}", [0]
    refined = RefinedTable(
        f"{name}_refined",
        f"SELECT id FROM lake.{name}",
        sources=(name,),
        _expiration=Expiration(lambda: time.time() + later[0]),
    )
    job = CdcJob(spark, tmp_path, name, lambda: [CurrentTable(name), refined])
    film = Source()

    def count_snapshots(after):
        later[0] = after
        film.log.clear()
        film.insert(id=after)
        job.take(job.place(film.log))
        return IcebergTable(spark, f"lake.{name}_refined").count_snapshots()

    assert [count_snapshots(after) for after in (0, 1, 3_601, 7_500)] == [1, 2, 3, 1]
    assert spark.table(f"lake.{name}_refined").count() == 4
    assert IcebergTable(spark, f"lake.{name}").count_snapshots() == 4


def read_rows(table):
    items = [each for each in table.scan()["Items"] if "_deleted" not in each]
    rows = [{name: _to_python(value) for name, value in each.items()} for each in items]
    return {
        int(each["id"]): {name: each[name] for name in each if not name.startswith("_")}
        | {"id": int(each["id"])}
        for each in rows
    }


def _to_python(value):
    return float(value) if isinstance(value, Decimal) else value


def _read_valid(spark, name):
    rows = [each.asDict() for each in spark.table(name).filter("_valid_to IS NULL").collect()]
    return {
        each["id"]: {name: each[name] for name in each if not name.startswith("_")} for each in rows
    }


def _check_versions(rows):
    """Check that each row's versions follow each other, and that none has a placeholder."""
    assert not [each for each in rows if UNAVAILABLE in {each.plot, *(each.tags or [])}]
    by_id = {}
    for each in sorted(rows, key=lambda row: (row._lsn, row._offset)):
        by_id.setdefault(each.id, []).append(each)
    assert {at: [each.title for each in found] for at, found in by_id.items()} == {
        1: ["a", "a", "a", "A", "A", "A"], 2: ["b", "b", "B", "again"], 3: ["c", "c"],
        30: ["c"], 7: ["after"], 8: ["truncated in its batch", "again"],
    }  # fmt: skip
    gaps = [
        (one.id, one.title)
        for found in by_id.values()
        for one, other in pairwise(found)
        if one._valid_to != other._valid_from
    ]
    assert gaps == [(2, "B"), (8, "truncated in its batch")]  # deleted, and there again


def test_dates_are_text_in_dynamodb_at_any_depth(spark, lake_folder, tmp_path, items):
    day = {"type": "int", "logicalType": "date"}
    moment = {"type": "long", "logicalType": "timestamp-millis"}
    stay = {"type": "record", "name": "Stay", "fields": [{"name": "at", "type": moment}]}
    stays = {"type": "array", "items": stay}
    columns = {
        "id": ("int", 0),
        "days": ({"type": "array", "items": ["null", day]}, []),
        "stays": ({"type": "map", "values": stays}, {}),
    }
    film = Source(columns=columns)
    film.insert(id=1, days=[20_000, None, 3_000_000], stays={"a": [{"at": 2**46}]})
    name = f"cdc.film_{secrets.token_hex(4)}"
    job = CdcJob(spark, tmp_path, name, lambda: [CurrentDynamoDbTable(items.name, 8)])
    job.take(job.place(film.log))

    (row,) = read_rows(items).values()
    assert row["days"] == ["2024-10-04", None, "+10183-09-21"]
    assert row["stays"] == {"a": [{"at": "4199-11-24 01:22:57.664"}]}


def test_files_keep_columns_that_are_named_as_those_of_files(spark, lake_folder, tmp_path):
    columns = {"id": ("int", 0), "partition": ("string", ""), "_offset": ("int", 0)}
    film = Source(flattened=True, columns=columns)
    film.insert(id=1, partition="a", _offset=7)
    job = CdcJob(
        spark,
        tmp_path,
        f"cdc.film_{secrets.token_hex(4)}",
        lambda: [
            ChangeFiles(f"{tmp_path}/raw", 3, read_records),
            ChangeFiles(f"{tmp_path}/flat", 3, lambda rows: flatten_records(rows, UNAVAILABLE)),
        ],
    )
    job.take(job.place(film.log))

    for kind in ("raw", "flat"):
        (row,) = spark.read.parquet(f"{tmp_path}/{kind}/topics/pagila.public.film").collect()
        assert (row["event_partition"], row["event__offset"], row["_offset"]) == ("a", 7, 0)


@pytest.mark.parametrize("is_marked", [True, False], ids=["marked by Spark", "not marked"])
def test_a_complete_folder_of_files_stays_when_kafka_has_removed_a_record(
    spark, lake_folder, tmp_path, is_marked
):
    film = Source()
    film.insert(id=1)
    film.insert(id=2)
    session = spark.newSession()
    session.conf.set("mapreduce.fileoutputcommitter.marksuccessfuljobs", is_marked)
    job = _open_files(session, tmp_path)
    placed = job.place(film.log)
    job.take(placed)
    written = _list_files(tmp_path)
    job.restart()

    job.take(placed[1:], job.number - 1)

    assert _list_files(tmp_path) == written
    rows = spark.read.parquet(f"{tmp_path}/raw/topics/pagila.public.film").collect()
    assert sorted(row["after"]["id"] for row in rows) == [1, 2]


def test_a_checkpoint_that_is_an_old_copy_loses_no_record_of_the_files(
    spark, lake_folder, tmp_path
):
    film = Source()
    film.insert(id=1)
    film.insert(id=2)
    job = _open_files(spark, tmp_path)
    placed = job.place(film.log)
    job.take(placed[:1], offsets="0 to 1")
    job.restart()
    job.take(placed[:1], job.number - 1, offsets="0 to 1")

    with pytest.raises(CheckpointError, match=r"the checkpoint says 0 to 2, .* is an old copy"):
        job.take(placed, job.number - 1, offsets="0 to 2")


def test_a_driver_without_its_lease_leaves_the_files_of_the_next_one(spark, lake_folder, tmp_path):
    film = Source()
    film.insert(id=1)
    job = _open_files(spark, tmp_path)
    placed = job.place(film.log)
    job.take(placed)
    for mark in tmp_path.rglob("_SUCCESS"):
        mark.unlink()
    written = _list_files(tmp_path)
    job.lease = _TakenLease()
    job.restart()

    with pytest.raises(CheckpointInUseError):
        job.take(placed, job.number - 1)

    assert _list_files(tmp_path) == written


class _TakenLease(NoLease):
    def check(self):
        raise CheckpointInUseError("another job has taken the lease")


def _open_files(spark, folder):
    name = f"cdc.film_{secrets.token_hex(4)}"
    return CdcJob(spark, folder, name, lambda: [ChangeFiles(f"{folder}/raw", 3, read_records)])


def _list_files(folder):
    return sorted(str(each) for each in (folder / "raw").rglob("*.parquet"))
