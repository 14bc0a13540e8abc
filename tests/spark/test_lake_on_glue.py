"""The lake in the Glue catalog on S3, as jobs have it: both of localcloud."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import duckdb
import pytest
from pyiceberg.catalog import load_catalog

from localcloud.faults import Faults, Kind
from penstock.attempts import Attempts
from penstock.errors import LakeHistoryError
from penstock.extensions.drift.inspection import TableTarget, inspect_tables, sync_tables
from penstock.extensions.quality import QualitySettings
from penstock.extensions.quality.check import TableCheck
from penstock.framing import encode_glue_frame
from penstock.schemas import merge_schemas
from penstock.spark.columns import read_columns, to_spark
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.query.outages import retry_outages
from penstock.spark.sinks.iceberg import Lake
from penstock.tables import read_event
from tests.spark.changes import CdcJob, Source
from tests.spark.lakes import NOON, make_rows, part
from tests.spark.records import GLUE, make_topic, make_version
from tests.stubs.unions import BRANCHES, VALUES, encode_branch, make_event, unite

_DATES = {"type": "array", "items": {"type": "int", "logicalType": "date"}}


@pytest.fixture
def catalog(cloud):
    """The catalog as pyiceberg has it."""
    return load_catalog(
        "lake",
        **{
            "type": "glue",
            "glue.endpoint": cloud.endpoint,
            "glue.region": "eu-central-1",
            "glue.access-key-id": "111111111111",
            "glue.secret-access-key": "any",
            "s3.endpoint": cloud.endpoint,
            "s3.region": "eu-central-1",
            "s3.access-key-id": "111111111111",
            "s3.secret-access-key": "any",
        },
    )


@pytest.fixture
def ask(catalog, database):
    """Ask DuckDB, which gets the rows of the table `t` by pyiceberg from the catalog."""

    def ask(sql):
        with duckdb.connect() as connection:
            connection.register("t", catalog.load_table(f"{database}.t").scan().to_arrow())
            return connection.execute(sql).fetchall()

    return ask


def test_batches_of_two_queries_at_once_are_there_once(glue_spark, database, ask):
    def write(query):
        for number in range(2):
            name = f"{query}{number}"
            rows = make_rows(glue_spark, f"n string, {name} bigint", (name, number))
            for _ in range(2):
                Lake(glue_spark, f"{database}.t").write(rows, part(number, 0, query=query))

    Lake(glue_spark, f"{database}.t").write(
        make_rows(glue_spark, "n string", ("first",)), part(0, 0, query="first")
    )
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))

    assert ask("SELECT n, a0, a1, b0, b1 FROM t ORDER BY n") == [
        ("a0", 0, None, None, None),
        ("a1", None, 1, None, None),
        ("b0", None, None, 0, None),
        ("b1", None, None, None, 1),
        ("first", None, None, None, None),
    ]


@pytest.fixture(params=[("InternalServiceException", 500), ("ThrottlingException", 400)])
def begin_outage(request, cloud):
    """Let Glue refuse its next calls, more than Iceberg tries; for S3 it has minutes of its own."""
    code, status = request.param
    faults = cloud.state(Faults)
    yield lambda: faults.add(kind=Kind.ERROR, service="glue", code=code, status=status, calls=8)
    faults.clear()


def test_a_batch_is_written_again_while_glue_is_down(
    glue_spark, database, ask, begin_outage, caplog
):
    lake = Lake(glue_spark, f"{database}.t")
    lake.write(make_rows(glue_spark, "n bigint", (0,)), part(0, 0))
    rows = make_rows(glue_spark, "n bigint", (1,), first=1)
    outage = begin_outage()

    retry_outages(partial(lake.write, rows, part(1, 0)), Attempts(1, 1, 60), lambda: True)

    assert outage.broken == 8
    assert caplog.text.count(f"Service: Glue, Status Code: {outage.status}") == 2
    assert ask("SELECT n FROM t ORDER BY n") == [(0,), (1,)]


def test_a_table_that_the_catalog_lost_is_not_created_again_over_its_files(
    glue_spark, database, ask, catalog, client
):
    def write(number):
        rows = make_rows(glue_spark, "n bigint", (number,), first=number)
        Lake(glue_spark, f"{database}.t").write(rows, part(number, 0))

    write(0)
    metadata = catalog.load_table(f"{database}.t").metadata_location
    client("glue").delete_table(DatabaseName=database, Name="t")

    with pytest.raises(LakeHistoryError) as caught:
        write(1)
    assert str(caught.value) == (
        f"found data files in s3://{database.replace('_', '-')}/tables/t/data and no table "
        f"{database}.t in the catalog, expected no files of a table that is to be created: "
        "move the folder away if the table was dropped on purpose, or register it again with its "
        "newest file of metadata"
    )
    catalog.register_table(f"{database}.t", metadata)
    write(1)

    assert ask("SELECT n FROM t ORDER BY n") == [(0,), (1,)]


def test_a_column_is_made_again_in_the_catalog_too(glue_spark, database, ask, client):
    lake = Lake(glue_spark, f"{database}.t")
    lake.write(make_rows(glue_spark, "x bigint", (1,)), part(0, 0))
    lake.write(make_rows(glue_spark, "x double", (0.5,), first=1), part(1, 0))

    assert ask("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    table = client("glue").get_table(DatabaseName=database, Name="t")["Table"]
    columns = {column["Name"]: column["Type"] for column in table["StorageDescriptor"]["Columns"]}
    assert (columns["x"], columns["_before_1_x"]) == ("double", "bigint")
    assert table["StorageDescriptor"]["Location"].endswith("/tables/t")


def test_a_sync_makes_the_columns_that_spark_makes(glue_spark, database, act_as, monkeypatch):
    act_as("111111111111")
    inner = {"type": "record", "name": "i", "fields": [{"name": "x", "type": "int"}]}
    first = [("a", "int"), ("f", "float"), ("s", inner)]
    wider = {"type": "record", "name": "i", "fields": [{"name": "x", "type": "long"}]}
    wider["fields"].append({"name": "Temp", "type": ["null", "string"], "default": None})
    second = [("a", "long"), ("s", wider), ("A", "boolean"), ("_topic", "string"), ("l", _DATES)]
    events = []
    for versions in ([first], [first, second]):
        records = [
            {"type": "record", "name": "e", "fields": [{"name": n, "type": t} for n, t in fields]}
            for fields in versions
        ]
        events.append(read_event(merge_schemas(records)))

    def write(table, event, number):
        columns = to_spark(event).simpleString().removeprefix("struct<").removesuffix(">")
        nothing = tuple(None for _ in event.columns)
        rows = make_rows(glue_spark, columns, nothing)
        Lake(glue_spark, f"{database}.{table}").write(rows, part(number, 0))
        return IcebergTable(glue_spark, f"lake.{database}.{table}").schema()

    for number, event in enumerate(events):
        by_spark = write("spark", event, number)
    write("synced", events[0], 0)
    tables = (f"{database}.synced", f"{database}.spark")

    synced, kept = sync_tables([TableTarget(events[1], tables)], apply=True)

    assert (synced.applied, kept.applied, synced.left, kept.left) == (True, False, (), ())
    assert inspect_tables([TableTarget(events[1], tables)]).differences == ()
    by_sync = IcebergTable(glue_spark, f"lake.{database}.synced").schema()
    assert read_columns(by_sync) == read_columns(by_spark)
    changes = []
    monkeypatch.setattr(IcebergTable, "_change_schema", lambda *change: changes.append(change))
    assert write("synced", events[1], 1) == by_sync
    assert changes == []


def test_members_of_a_union_are_the_same_for_spark_sync_quality_and_athena(
    glue_spark, database, athena, act_as, monkeypatch
):
    act_as("111111111111")
    table = f"{database}.t"
    names = [["one", "string"], ["plain", "one", "other", "string"]]
    versions = [
        make_version(number, make_event(unite(*(BRANCHES[name] for name in chosen))))
        for number, chosen in enumerate(names, 1)
    ]
    event = read_event(merge_schemas([each.schema for each in versions]))
    target = TableTarget(event, (table,))

    def write(number):
        frames = [
            encode_glue_frame(
                versions[number].key, encode_branch(versions[number].schema, at, VALUES[name])
            )
            for at, name in enumerate(names[number], 1)
        ]
        decoder = Decoder(glue_spark, versions[: number + 1])
        topic = make_topic(glue_spark, frames, "t", 10 * number)
        rows = decoder.select(decoder.decode(split_frames(topic, GLUE)))
        Lake(glue_spark, table).write(rows, part(number, 0))

    write(0)
    found = inspect_tables([target]).differences
    (synced,) = sync_tables([target], apply=True)
    after = inspect_tables([target]).differences
    changes = []
    monkeypatch.setattr(IcebergTable, "_change_schema", lambda *change: changes.append(change))
    write(1)
    members = ("acme_reading.of_reading", "other_reading.of_reading", "alarm.of_alarm", "string")
    columns = (f"u.member_{member} AS c{at}" for at, member in enumerate(members))
    answer = athena.ask(f"SELECT {', '.join(columns)} FROM t ORDER BY _offset", database)
    report = TableCheck(QualitySettings(workgroup="any", since=None), table, athena).run(NOON)

    assert [(each.place.split()[0], each.column) for each in found] == [
        ("iceberg", "u.member_Alarm"), ("iceberg", "u.member_other_Reading"), ("glue", "u"),
    ]  # fmt: skip
    assert (synced.applied, synced.left, after, changes) == (True, (), (), [])
    assert [tuple(row.values()) for row in answer.rows] == [
        ("5", None, None, None), (None, None, None, "text"),
        (None, None, "7", None), ("5", None, None, None), (None, "6", None, None),
        (None, None, None, "text"),
    ]  # fmt: skip
    filled = {
        each.column: each.rows - each.nulls
        for each in report.columns
        if each.column.startswith("u.") and "of_" not in each.column
    }
    assert filled == {
        "u.member_Alarm": 1, "u.member_acme_Reading": 2, "u.member_other_Reading": 1,
        "u.member_string": 2,
    }  # fmt: skip


def test_readers_see_what_changes_have_deleted(glue_spark, database, ask, athena, tmp_path):
    """pyiceberg, DuckDB over it, and Athena read delete files, and the table is the database's."""
    job = CdcJob(glue_spark, tmp_path, f"{database}.t")
    film = Source()
    for at in range(6):
        film.insert(id=at, title="old")
    job.take(job.place(film.log))
    film.log.clear()
    film.update(1, title="new")
    film.update(2, id=20)
    for at in (3, 4):
        film.delete(at)
    job.take(job.place(film.log))

    expected = sorted((at, row["title"]) for at, row in film.rows.items())
    assert job.rows() == film.rows
    assert glue_spark.table(f"lake.{database}.t.delete_files").count() > 0
    assert ask("SELECT id, title FROM t ORDER BY id") == expected
    answer = athena.ask(f"SELECT id, title FROM {database}.t ORDER BY id", database)
    assert [(int(row["id"]), row["title"]) for row in answer.rows] == expected
