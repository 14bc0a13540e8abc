"""The lake in the Glue catalog on S3, as jobs have it: both of localcloud."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from pyiceberg.catalog import load_catalog

from penstock.spark.lake.iceberg import catalog_settings
from penstock.spark.lake.lake import Lake
from tests.spark.lakes import batch, make_rows

_KEYS = {"aws.accessKeyId": "111111111111", "aws.secretAccessKey": "any"}


@pytest.fixture
def glue_spark(spark, cloud):
    """A session whose lake is in the Glue catalog; only endpoints differ from a job's."""
    system = spark.sparkContext._jvm.java.lang.System
    for name, text in _KEYS.items():
        system.setProperty(name, text)
    session = spark.newSession()
    settings = {
        **catalog_settings(),
        "spark.sql.catalog.lake.client.region": "eu-central-1",
        "spark.sql.catalog.lake.glue.endpoint": cloud.endpoint,
        "spark.sql.catalog.lake.s3.endpoint": cloud.endpoint,
        "spark.sql.catalog.lake.s3.path-style-access": "true",
    }
    for name, text in settings.items():
        session.conf.set(name, text)
    yield session
    for name in _KEYS:
        system.clearProperty(name)


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
                Lake(glue_spark, f"{database}.t").write(rows, batch(number, query=query), 0)

    Lake(glue_spark, f"{database}.t").write(
        make_rows(glue_spark, "n string", ("first",)), batch(0, query="first"), 0
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


def test_a_column_is_made_anew_in_the_catalog_too(glue_spark, database, ask, client):
    lake = Lake(glue_spark, f"{database}.t")
    lake.write(make_rows(glue_spark, "x bigint", (1,)), batch(0), 0)
    lake.write(make_rows(glue_spark, "x double", (0.5,), first=1), batch(1), 0)

    assert ask("SELECT x FROM t ORDER BY _offset") == [(1.0,), (0.5,)]
    table = client("glue").get_table(DatabaseName=database, Name="t")["Table"]
    columns = {column["Name"]: column["Type"] for column in table["StorageDescriptor"]["Columns"]}
    assert (columns["x"], columns["_before_1_x"]) == ("double", "bigint")
    assert table["StorageDescriptor"]["Location"].endswith("/tables/t")
