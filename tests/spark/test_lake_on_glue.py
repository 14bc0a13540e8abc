"""The lake in the Glue catalog on S3, as jobs have it: both of localcloud."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from pyiceberg.catalog import load_catalog

from penstock.schemas import merge_schemas
from penstock.spark.columns import read_columns, to_spark
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.sinks.iceberg import Lake
from penstock.tables import TableTarget, inspect_tables, read_event, sync_tables
from tests.spark.lakes import make_rows, part
from tests.stubs.sessions import make_session

_DATES = {"type": "array", "items": {"type": "int", "logicalType": "date"}}


@pytest.fixture
def database(client):
    """A database as infra/modules/lake makes it, with its bucket."""
    name = f"db_{secrets.token_hex(4)}"
    bucket = name.replace("_", "-")
    s3, glue = client("s3"), client("glue")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    glue.create_database(DatabaseInput={"Name": name, "LocationUri": f"s3://{bucket}/tables/"})
    yield name
    glue.delete_database(Name=name)  # with its tables
    for found in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        s3.delete_object(Bucket=bucket, Key=found["Key"])
    s3.delete_bucket(Bucket=bucket)


@pytest.fixture
def ask(cloud, database):
    """Ask DuckDB, which gets the rows of the table `t` by pyiceberg from the catalog."""
    catalog = load_catalog(
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


def test_a_column_is_made_again_in_the_catalog_too(glue_spark, database, ask, client):
    lake = Lake(glue_spark, f"{database}.t")
    lake.write(make_rows(glue_spark, "x bigint", (1,)), part(0, 0))
    lake.write(make_rows(glue_spark, "x double", (0.5,), first=1), part(1, 0))

    assert ask("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    table = client("glue").get_table(DatabaseName=database, Name="t")["Table"]
    columns = {column["Name"]: column["Type"] for column in table["StorageDescriptor"]["Columns"]}
    assert (columns["x"], columns["_before_1_x"]) == ("double", "bigint")
    assert table["StorageDescriptor"]["Location"].endswith("/tables/t")


def test_a_sync_makes_the_columns_that_spark_makes(glue_spark, database, cloud, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    session = make_session("111111111111")
    monkeypatch.setattr("penstock.tables._clients.load_session", lambda: session)
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
