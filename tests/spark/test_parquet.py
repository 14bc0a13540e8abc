"""Plain files: the lake's columns, a folder for each part and day, and no row twice."""

from __future__ import annotations

import json
import secrets
import shutil
from datetime import date, datetime

import duckdb
import pyarrow.dataset
import pytest
from pyspark.sql.functions import expr
from pyspark.sql.types import StructType

from localcloud.testing import wait_until
from localcloud.testing.policies import allow, make_role, trust
from penstock.aws import AwsClient, Service
from penstock.errors import CheckpointError, Reason, SchemaConflictError
from penstock.extensions.parquet import glue_table
from penstock.extensions.parquet.spark.columns import (
    PARTITION_KEYS,
    grow_columns,
    read_file_columns,
)
from penstock.extensions.parquet.spark.sink import ParquetFiles, ReplayedFiles
from penstock.spark.lake.conversion import EventTime
from systems.sessions import make_session
from tests.spark.lakes import NOON_MS, make_rows, part

_AT = EventTime("at")
_DAY_MS = 24 * 3_600_000


def test_a_batch_that_comes_again_takes_its_own_place(spark, tmp_path):
    files = ParquetFiles(f"{tmp_path}/")
    files.write(make_rows(spark, "a int, _topic string", (1, "mine"), (2, None)), part(0, 0))
    for _ in range(2):
        grown = make_rows(spark, "a bigint, A double, nothing void", (3, 0.5, None), first=2)
        assert files.write(grown, part(0, 1)) == {}

    folder = tmp_path / "query=q/batch=0"
    assert sorted(path.name for path in folder.iterdir()) == ["part=0", "part=1"]
    found = duckdb.sql(
        "SELECT a, A_2, event_topic, _topic, epoch_ms(_event_time) FROM "
        f"read_parquet('{tmp_path}/**/*.parquet', union_by_name => true) ORDER BY _offset"
    ).fetchall()
    assert found == [
        (1, None, "mine", "t", NOON_MS),
        (2, None, None, "t", NOON_MS),
        (3, 0.5, None, "t", NOON_MS),
    ]


def test_other_readers_find_the_first_and_the_last_day(spark, tmp_path):
    ends = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)]
    rows = make_rows(spark, "a string", *((f"{end:%Y-%m-%d %H:%M:%S}".zfill(19),) for end in ends))
    event = rows.withColumn("event", expr("named_struct('a', CAST(event.a AS TIMESTAMP))"))
    ParquetFiles(str(tmp_path)).write(event, part(0, 0))

    found = [row["a"] for row in pyarrow.dataset.dataset(tmp_path).to_table(["a"]).to_pylist()]
    assert [each.replace(tzinfo=None) for each in found] == ends


def test_a_complete_part_is_not_overwritten_by_less(spark, tmp_path):
    files = ParquetFiles(str(tmp_path))
    files.write(make_rows(spark, "a int", (1,), (2,)), part(7, 0))
    files.write(make_rows(spark, "a int", (2,), first=1), part(7, 0))  # Kafka deleted the first

    folder = tmp_path / "query=q/batch=7/part=0"
    assert sorted(row.a for row in spark.read.parquet(str(folder)).collect()) == [1, 2]


def test_a_checkpoint_that_is_an_old_copy_ends_the_job(spark, tmp_path):
    files = ParquetFiles(str(tmp_path))
    rows = make_rows(spark, "a int", (1,), (2,))
    for _ in range(2):
        files.write(rows, part(7, 0, "0 to 2"))

    with pytest.raises(CheckpointError, match=f"^{tmp_path}/query=q/batch=7/part=0 has records"):
        files.write(rows, part(7, 0, "0 to 3"))


def test_a_part_that_was_cut_off_is_written_again(spark, tmp_path):
    files = ParquetFiles(str(tmp_path))
    folder = tmp_path / "query=q/batch=7/part=0"
    files.write(make_rows(spark, "a int", (1,)), part(7, 0))
    (folder / "_SUCCESS").unlink()

    files.write(make_rows(spark, "a int", (1,), (2,)), part(7, 0))

    assert sorted(row.a for row in spark.read.parquet(str(folder)).collect()) == [1, 2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic"),
    ],
)
def test_a_complete_part_has_its_mark_whatever_spark_is_told(spark, tmp_path, name, value):
    session = spark.newSession()
    session.conf.set(name, value)
    files = ParquetFiles(str(tmp_path))
    folder = tmp_path / "query=q/batch=7/part=0"
    files.write(make_rows(session, "a int", (1,), (2,)), part(7, 0))
    assert (folder / "_SUCCESS").exists()

    files.write(make_rows(session, "a int", (2,), first=1), part(7, 0))

    assert sorted(row.a for row in session.read.parquet(str(folder)).collect()) == [1, 2]


class Catalog:
    """The files of a folder, and what a reader of their Glue table finds."""

    def __init__(self, spark, client, folder):
        self.spark, self.glue = spark, client("glue")
        self.database = f"db_{secrets.token_hex(4)}"
        self.glue.create_database(DatabaseInput={"Name": self.database})
        self.folder = folder

    def open(self, event_time=_AT, has_table=True):
        table = f"{self.database}.t" if has_table else ""
        return ParquetFiles(f"file://{self.folder}", event_time, table)

    def table(self):
        return glue_table.GlueTable(f"{self.database}.t", f"file://{self.folder}", PARTITION_KEYS)

    def columns(self):
        found = self.glue.get_table(DatabaseName=self.database, Name="t")["Table"]
        return {c["Name"]: c["Type"] for c in found["StorageDescriptor"]["Columns"]}

    def partitions(self):
        found = self.glue.get_partitions(DatabaseName=self.database, TableName="t")["Partitions"]
        return {tuple(p["Values"]): p["StorageDescriptor"]["Location"] for p in found}

    def query(self, columns):
        """The rows of complete parts, as a reader by partitions finds them."""
        files = [
            f"{place.removeprefix('file://')}*.parquet" for place in self.partitions().values()
        ]
        read = f"read_parquet({files}, union_by_name => true, hive_partitioning => true)"
        return duckdb.sql(f"SELECT {columns} FROM {read} ORDER BY _offset, day").fetchall()


@pytest.fixture
def catalog(spark, client, cloud, tmp_path, monkeypatch):
    glue = AwsClient(Service.GLUE, make_session("111111111111"), endpoint=cloud.endpoint)
    monkeypatch.setattr(glue_table, "_open_client", lambda: glue)
    made = Catalog(spark, client, tmp_path)
    yield made
    made.glue.delete_database(Name=made.database)


def test_a_part_has_a_partition_for_each_day(spark, catalog):
    nested = "at bigint, day string, place struct<deviceId: int>"
    rows = make_rows(spark, nested, (NOON_MS, "a", (1,)), (NOON_MS - _DAY_MS, "b", (2,)))

    catalog.open().write(rows, part(7, 0))
    grown = "at bigint, place struct<deviceId: bigint, city: string>"
    catalog.open().write(make_rows(spark, grown, (NOON_MS, (3, "x")), first=2), part(8, 0))

    assert catalog.partitions() == {
        ("q", str(number), "0", day): (
            f"file://{catalog.folder}/query=q/batch={number}/part=0/day={day}/"
        )
        for number, day in ((7, "2026-11-21"), (7, "2026-11-20"), (8, "2026-11-21"))
    }
    assert catalog.columns() | {"day_2": "string"} == catalog.columns()
    assert catalog.columns()["place"] == "struct<deviceid:bigint,city:string>"
    assert catalog.query("day, day_2, place.deviceId, place.city") == [
        (date(2026, 11, 21), "a", 1, None),
        (date(2026, 11, 20), "b", 2, None),
        (date(2026, 11, 21), None, 3, "x"),
    ]


def test_nested_fields_that_a_sync_added_are_those_of_the_event(spark):
    event = StructType.fromDDL("place struct<zipCode: bigint>")

    columns = grow_columns("lake.t", [{"Name": "place", "Type": "struct<zipcode:int>"}], event)

    assert columns[0]["Type"] == "struct<zipcode:bigint>"
    assert read_file_columns(columns[:1], event)["place"].dataType == event["place"].dataType


def test_a_driver_that_ended_before_the_partitions_adds_them_when_it_starts_again(
    spark, catalog, monkeypatch
):
    rows = make_rows(spark, "a int", (1,), (2,))
    with monkeypatch.context() as patch, pytest.raises(ConnectionError):
        patch.setattr(glue_table.GlueTable, "add_partitions", _die)
        catalog.open().write(rows, part(7, 0))
    assert catalog.partitions() == {}

    catalog.open().write(make_rows(spark, "a int", (2,), first=1), part(7, 0))

    assert catalog.query("a") == [(1,), (2,)]


def test_a_part_with_a_partition_is_not_written_again_without_its_mark(spark, catalog):
    catalog.open().write(make_rows(spark, "a int", (1,), (2,)), part(7, 0))
    (catalog.folder / "query=q/batch=7/part=0/_SUCCESS").unlink()

    catalog.open().write(make_rows(spark, "a int", (2,), first=1), part(7, 0))

    assert catalog.query("a") == [(1,), (2,)]


def test_a_value_that_a_column_cannot_hold_stops_or_is_a_dead_letter(spark, catalog):
    catalog.open().write(make_rows(spark, "a bigint, b double", (1, 0.5)), part(0, 0))

    with pytest.raises(SchemaConflictError, match="the column a is bigint"):
        catalog.open().write(make_rows(spark, "a double", (0.5,), first=1), part(1, 0))
    rows = make_rows(spark, "b bigint", (2**53 + 1,), (4,), first=1)
    for _ in range(2):
        counts = catalog.open().write(rows, part(1, 0))
        assert counts == {Reason.LOSSY_WIDENING: 1}

    assert catalog.query("a, b") == [(1, 0.5), (None, 4.0)]


def test_replays_that_were_killed_leave_each_row_once(spark, catalog, monkeypatch):
    """One ended before its partitions, one before its files were complete."""

    def replay(name, *rows):
        files = ReplayedFiles(spark, catalog.open())
        return files.write(make_rows(spark, "a int", *rows), part(0, 0, query=name))

    with monkeypatch.context() as patch, pytest.raises(ConnectionError):
        patch.setattr(glue_table.GlueTable, "add_partitions", _die)
        replay("one", (1,))
    cut = catalog.folder / "query=replay-two/batch=0/part=0/day=2026-11-21"
    cut.mkdir(parents=True)
    whole = next(catalog.folder.glob("query=replay-one/*/*/*/*.parquet"))
    (cut / "cut.parquet").write_bytes(whole.read_bytes())

    replay("three", (1,), (2,))

    assert catalog.query("a, query") == [(1, "replay-one"), (2, "replay-three")]
    assert not cut.parent.exists()


@pytest.mark.parametrize("kind", ["files", "table", "table with a day that Glue cannot compare"])
def test_a_replay_opens_files_of_the_days_of_its_rows_only(spark, catalog, kind):
    """Also if `days_before` was another: a row has its event's day, or that of Kafka."""
    has_table = kind != "files"
    times = [EventTime("at", 2), EventTime("at", 9)]
    before, now = times if kind == "files" else reversed(times)
    days = [NOON_MS - days * _DAY_MS for days in (0, 1, 6, 5)]
    rows = make_rows(spark, "at bigint, a int", *((day, at) for at, day in enumerate(days)))
    catalog.open(before, has_table).write(rows, part(7, 0))
    for day in ("2026-11-20", "2026-11-15"):
        _spoil(catalog.folder / f"query=q/batch=7/part=0/day={day}")
    cut = catalog.folder / "query=q/batch=8/part=0/day=2026-11-21"
    shutil.copytree(catalog.folder / "query=q/batch=7/part=0/day=2026-11-21", cut)
    if "compare" in kind:
        catalog.table().add_partitions({("q", "1", "0", "+294247-01-10"): "file:///none"})

    files = ReplayedFiles(spark, catalog.open(now, has_table))
    again = make_rows(spark, "at bigint, a int", (days[3], 3), (days[0], 9), first=3)
    for number, wanted in enumerate(("_offset = 3", "TRUE", "TRUE")):
        files.write(again.filter(wanted), part(number, 0, query="r"))
        shutil.rmtree(cut, ignore_errors=True)  # the job that consumes writes the part again

    found = [path.parent for path in catalog.folder.glob("query=replay-*/*/*/*/*.parquet")]
    assert found == [catalog.folder / "query=replay-r/batch=1/part=0/day=2026-11-21"]


def test_a_replay_reads_what_the_table_has(spark, catalog):
    """A part without partitions is of a batch that is not over, which a replay leaves alone."""
    catalog.open().write(make_rows(spark, "a int", (1,), (2,)), part(7, 0))
    incomplete = catalog.folder / "query=q/batch=8/part=0/day=2026-11-21"
    shutil.copytree(catalog.folder / "query=q/batch=7/part=0/day=2026-11-21", incomplete)
    _spoil(incomplete)
    shutil.rmtree(catalog.folder / "query=q/batch=7")  # as a lifecycle rule does

    ReplayedFiles(spark, catalog.open()).write(make_rows(spark, "a int", (2,)), part(0, 0))

    assert len(list(catalog.folder.glob("query=replay-q/*/*/*/*.parquet"))) == 1


def _spoil(folder):
    """Let the files of a folder be such as no reader can open."""
    for path in folder.glob("*.parquet"):
        path.write_bytes(b"none")
        path.with_name(f".{path.name}.crc").unlink()


def test_parts_of_replays_that_are_finished_are_left_alone(spark, catalog, monkeypatch):
    """A replay looks for those that are not once, and not for each of its batches."""
    for at, name in enumerate(("one", "two")):
        rows = make_rows(spark, "a int", (1,), first=at)
        ReplayedFiles(spark, catalog.open()).write(rows, part(0, 0, query=name))
    added, looked = [], []
    add, look = glue_table.GlueTable.add_partitions, ParquetFiles.finish_replays
    monkeypatch.setattr(
        glue_table.GlueTable, "add_partitions", lambda *given: (added.append(given), add(*given))
    )
    monkeypatch.setattr(
        ParquetFiles, "finish_replays", lambda *given: (looked.append(given), look(*given))
    )

    files = ReplayedFiles(spark, catalog.open())
    for at in (2, 3):
        files.write(make_rows(spark, "a int", (1,), first=at), part(at, 0, query="x"))

    assert [{batch for _, batch, *_ in partitions} for _, partitions in added] == [{"2"}, {"3"}]
    assert len(looked) == 1


def _die(*_):
    raise ConnectionError


def test_athena_reads_the_same_rows_in_the_job_table_and_in_a_crawled_one(
    spark, catalog, client, cloud
):
    bucket = f"plain-{secrets.token_hex(4)}"
    s3, glue, athena = client("s3"), client("glue"), client("athena")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    for name, text in {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.s3a.access.key": "111111111111",
        "fs.s3a.secret.key": "any",
        "fs.s3a.endpoint": cloud.endpoint,
        "fs.s3a.endpoint.region": "eu-central-1",
        "fs.s3a.path.style.access": "true",
    }.items():
        hadoop.set(name, text)
    files = ParquetFiles(f"s3://{bucket}/plain", EventTime("at"), f"{catalog.database}.t")
    old = "at bigint, deviceId string, n int"
    files.write(make_rows(spark, old, (NOON_MS, "a", 1), (NOON_MS - _DAY_MS, "b", 2)), part(7, 0))
    new = "at bigint, deviceId string, n bigint, city string"
    files.write(make_rows(spark, new, (NOON_MS, "c", 2**40, "x"), first=2), part(8, 0))
    role = make_role(client("iam"), trust({"Service": "glue.amazonaws.com"}), allow("*"))
    combine = {"Version": 1.0, "Grouping": {"TableGroupingPolicy": "CombineCompatibleSchemas"}}
    glue.create_crawler(
        Name=catalog.database,
        Role=role,
        DatabaseName=catalog.database,
        Targets={"S3Targets": [{"Path": f"s3://{bucket}/plain"}]},
        TablePrefix="crawled_",
        Configuration=json.dumps(combine),
    )

    def crawled():
        found = glue.get_crawler(Name=catalog.database)["Crawler"]
        return found.get("LastCrawl") if found["State"] == "READY" else None

    def ask(table):
        sql = (
            f"SELECT deviceid, n, city, query, batch, part, CAST(day AS varchar), _offset "  # ours
            f"FROM {table} ORDER BY _offset"
        )
        query = athena.start_query_execution(
            QueryString=sql,
            QueryExecutionContext={"Database": catalog.database},
            ResultConfiguration={"OutputLocation": f"s3://{bucket}/results/"},
        )["QueryExecutionId"]

        def ended():
            status = athena.get_query_execution(QueryExecutionId=query)["QueryExecution"]["Status"]
            return status if status["State"] not in {"QUEUED", "RUNNING"} else None

        status = wait_until("the end of a query", ended, 120)
        assert status["State"] == "SUCCEEDED", status
        rows = athena.get_query_results(QueryExecutionId=query)["ResultSet"]["Rows"][1:]
        return [[cell.get("VarCharValue") for cell in row["Data"]] for row in rows]

    glue.start_crawler(Name=catalog.database)
    assert wait_until("the end of the crawl", crawled, 120)["Status"] == "SUCCEEDED"

    assert ask("t") == ask("crawled_plain")
    assert ask("t") == [
        ["a", "1", None, "q", "7", "0", "2026-11-21", "0"],
        ["b", "2", None, "q", "7", "0", "2026-11-20", "1"],
        ["c", str(2**40), "x", "q", "8", "0", "2026-11-21", "2"],
    ]
