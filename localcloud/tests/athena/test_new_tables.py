"""CREATE TABLE AS, CREATE VIEW and DROP, with the queries of a change data capture.

The tables, statements and rows are those of an article on hydrating a data lake by log-based
change data capture: they run as he has them.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

_PAGE = Path(__file__).parents[3] / "docs/lake.md"
_LATEST = """
FROM
(SELECT *,
ROW_NUMBER()
OVER ( PARTITION BY film_id
ORDER BY __source_ts_ms DESC) AS row_num
FROM "pagila_kafka_connect"."pagila_public_film") AS x
WHERE x.row_num = 1
"""
_COLUMNS = """SELECT film_id, title, release_year, rental_rate, rental_duration,
date_format(from_unixtime(__source_ts_ms/1000), '%Y-%m-%d %h:%i:%s') AS timestamp"""
_REFINE = f"""CREATE TABLE pagila_kafka_connect.pagila_public_film_refined
WITH (
format='PARQUET',
parquet_compression='SNAPPY',
partitioned_by=ARRAY['rating'],
external_location='s3://my-s3-table/refined/film/'
) AS
{_COLUMNS}, rating{_LATEST}AND __deleted = 'false'
ORDER BY film_id"""
_CHANGES = [
    (1, "ACADEMY DINOSAUR", 2021, 2.99, 6, "PG", "01:43:37", "false"),
    (1, "ACADEMY DINOSAUR", 2019, 3.99, 6, "PG", "02:41:32", "false"),
    (2, "ACE GOLDFINGER", 2006, 4.99, 3, "G", "02:49:17", "false"),
    (2, "ACE GOLDFINGER", 2006, 4.99, 7, "G", "02:49:33", "false"),
    (4, "AFFAIR PREJUDICE", 2017, 3.99, 5, None, "02:55:23", "false"),
    (5, "AFRICAN EGG", 2006, 2.99, 6, "G", "01:43:37", "false"),
    (5, None, None, 4.99, 3, None, "03:00:49", "true"),
]
_ACTORS = [
    {"actor_id": 5, "first_name": "JOHNNY", "last_name": "LOLLOBRIGIDA", "last_update": "08:00:00"},
    {"actor_id": 6, "first_name": "BETTE", "last_name": "NICHOLSON", "last_update": "08:00:00"},
    {"actor_id": 6, "first_name": "KATE", "last_name": "WINSLET", "last_update": "23:19:58"},
]
_NAMES = ("film_id", "title", "release_year", "rental_rate", "rental_duration", "rating")


@pytest.fixture(scope="module")
def films(lake):
    """The lake with the changes of a table of films, and a bucket for refined ones."""
    glue, database = lake.client("glue"), "pagila_kafka_connect"
    where = {"LocationConstraint": "eu-central-1"}
    lake.client("s3").create_bucket(Bucket="my-s3-table", CreateBucketConfiguration=where)
    glue.create_database(DatabaseInput={"Name": database})
    kinds = ["bigint", "string", "int", "double", "int", "string"]
    columns = [f"{name} {kind}" for name, kind in zip(_NAMES, kinds, strict=True)]
    lake.make_table("film", [*columns, "__source_ts_ms bigint", "__deleted string"])
    table = glue.get_table(DatabaseName=lake.database, Name="film")["Table"]
    kept = {"StorageDescriptor": table["StorageDescriptor"], "Name": "pagila_public_film"}
    glue.create_table(DatabaseName=database, TableInput=kept)
    rows = [(*row[:6], _milliseconds(row[6]), row[7]) for row in _CHANGES]
    names = (*_NAMES, "__source_ts_ms", "__deleted")
    lists = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    types = [pa.int64(), pa.string(), pa.int32(), pa.float64(), pa.int32(), pa.string()]
    schema = pa.schema(list(zip(names, [*types, pa.int64(), pa.string()], strict=True)))
    lake.put_parquet("film/a.parquet", pa.table(lists, schema))
    _make_actors(lake, database)
    return lake


def _make_actors(lake, database):
    """Make the changes of a table of actors, as Debezium writes them without flattening."""
    after = "struct<actor_id:int,first_name:string,last_name:string,last_update:string>"
    lake.make_table("actor", [f"before {after}", f"after {after}", "op string"])
    glue = lake.client("glue")
    table = glue.get_table(DatabaseName=lake.database, Name="actor")["Table"]
    kept = {"StorageDescriptor": table["StorageDescriptor"], "Name": "pagila_public_actor"}
    glue.create_table(DatabaseName=database, TableInput=kept)
    rows = [row | {"last_update": f"2021-08-18T{row['last_update']}Z"} for row in _ACTORS]
    kind = pa.struct(
        [("actor_id", pa.int32()), *((name, pa.string()) for name in list(rows[0])[1:])]
    )
    befores = [None, None, rows[1]]
    columns = [pa.array(befores, kind), pa.array(rows, kind), pa.array(["r", "r", "u"])]
    lake.put_parquet("actor/a.parquet", pa.table(columns, ["before", "after", "op"]))


def _milliseconds(clock):
    moment = datetime.fromisoformat(f"2021-08-20 {clock}").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + 426


def test_the_current_rows_of_captured_changes_are_asked_for(films):
    deleted = "AND __deleted != 'true'\nORDER BY film_id"
    assert films.ask(f"{_COLUMNS}{_LATEST}{deleted}")[1:] == [
        ["1", "ACADEMY DINOSAUR", "2019", "3.99", "6", "2021-08-20 02:41:32"],
        ["2", "ACE GOLDFINGER", "2006", "4.99", "7", "2021-08-20 02:49:33"],
        ["4", "AFFAIR PREJUDICE", "2017", "3.99", "5", "2021-08-20 02:55:23"],
    ]
    every = (
        f'{_COLUMNS}\nFROM "pagila_kafka_connect"."pagila_public_film"\nORDER BY film_id, timestamp'
    )
    assert films.ask(every)[6:] == [
        ["5", "AFRICAN EGG", "2006", "2.99", "6", "2021-08-20 01:43:37"],
        ["5", None, None, "4.99", "3", "2021-08-20 03:00:49"],
    ]


def test_the_queries_of_the_page_print_what_it_shows(films):
    section = _PAGE.read_text().partition("\n## Athena\n")[2].partition("\n## ")[0]
    shown = re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```", section, re.DOTALL)
    assert len(shown) == 3
    for sql, expected in shown:
        rows = films.ask(sql)
        written = [",".join("" if cell is None else f'"{cell}"' for cell in row) for row in rows]
        assert "\n".join(written) == expected.rstrip()


def test_create_table_as_writes_files_a_table_and_its_partitions(films):
    query = films.start(_REFINE)
    found = films.wait_end(query)

    assert found["Status"]["State"] == "SUCCEEDED", found["Status"]
    kind = ("DDL", "CREATE_TABLE_AS_SELECT")
    assert (found["StatementType"], found["SubstatementType"]) == kind
    result = films.athena.get_query_results(QueryExecutionId=query)
    assert (result["UpdateCount"], result["ResultSet"]["Rows"]) == (3, [])
    s3 = films.client("s3")
    listed = s3.list_objects_v2(Bucket="my-s3-table", Prefix="refined/film/")["Contents"]
    folders = sorted(entry["Key"].rpartition("/")[0] for entry in listed)
    null = "__HIVE_DEFAULT_PARTITION__"
    assert folders == [f"refined/film/rating={value}" for value in ("G", "PG", null)]
    manifest = found["Statistics"]["DataManifestLocation"].split("/", 3)
    body = s3.get_object(Bucket=manifest[2], Key=manifest[3])["Body"].read().decode()
    assert sorted(body.split()) == sorted(f"s3://my-s3-table/{entry['Key']}" for entry in listed)
    refined = {"DatabaseName": "pagila_kafka_connect", "TableName": "pagila_public_film_refined"}
    table = films.client("glue").get_table(
        DatabaseName=refined["DatabaseName"], Name=refined["TableName"]
    )["Table"]
    types = [each["Type"] for each in table["StorageDescriptor"]["Columns"]]
    assert types == ["bigint", "string", "int", "double", "int", "string"]
    assert table["PartitionKeys"] == [{"Name": "rating", "Type": "string"}]
    partitions = films.client("glue").get_partitions(**refined)["Partitions"]
    assert sorted(each["Values"] for each in partitions) == [["G"], ["PG"], [null]]
    files = pq.ParquetFile(pa.BufferReader(_read(s3, listed[0]["Key"])))
    assert files.metadata.row_group(0).column(0).compression == "SNAPPY"

    rows = films.ask(
        'SELECT * FROM "pagila_kafka_connect"."pagila_public_film_refined" ORDER BY film_id'
    )
    assert [(row[0], row[5], row[6]) for row in rows[1:]] == [
        ("1", "2021-08-20 02:41:32", "PG"),
        ("2", "2021-08-20 02:49:33", "G"),
        ("4", "2021-08-20 02:55:23", None),
    ]
    _check_refusals(films)


def _check_refusals(films):
    """A table that exists is refused, and so are the files of one that was dropped."""
    name = "'awsdatacatalog.pagila_kafka_connect.pagila_public_film_refined'"
    said = f"TABLE_ALREADY_EXISTS: line 1:14: Destination table {name} already exists"
    assert films.fail(_REFINE) == said
    films.ask("DROP TABLE pagila_kafka_connect.pagila_public_film_refined")
    said = "HIVE_PATH_ALREADY_EXISTS: Target directory for table 'pagila_kafka_connect.pagila_publi"
    assert films.fail(_REFINE).startswith(said)


def _read(s3, key):
    return s3.get_object(Bucket="my-s3-table", Key=key)["Body"].read()


def test_a_view_is_kept_as_athena_keeps_it_and_read_again(films):
    films.ask(
        "CREATE OR REPLACE VIEW few AS\nSELECT device, at, count(*) OVER () AS n FROM readings"
    )
    films.ask("CREATE OR REPLACE VIEW fewer AS SELECT device AS d, n FROM few WHERE device = 'a'")

    assert films.ask("SELECT f.d, f.n FROM fewer AS f") == [["d", "n"], ["a", "2"]]
    view = films.client("glue").get_table(DatabaseName=films.database, Name="few")["Table"]
    assert (view["TableType"], view["Parameters"]["presto_view"]) == ("VIRTUAL_VIEW", "true")
    text = view["ViewOriginalText"].removeprefix("/* Presto View: ").removesuffix(" */")
    said = json.loads(base64.b64decode(text))
    assert said["originalSql"] == "SELECT device, at, count(*) OVER () AS n FROM readings"
    assert (said["catalog"], said["schema"]) == ("awsdatacatalog", films.database)
    types = ["varchar", "timestamp(3) with time zone", "bigint"]
    assert [each["type"] for each in said["columns"]] == types
    name = f"'awsdatacatalog.{films.database}.few'"
    said = f"TABLE_ALREADY_EXISTS: line 1:13: View already exists: {name}"
    assert films.fail("CREATE VIEW few AS SELECT 1 AS a") == said
    films.ask("DROP VIEW few")
    name = f"'awsdatacatalog.{films.database}.fewer'"
    stale = f"VIEW_IS_STALE: line 1:15: View {name} is stale or in invalid state: TABLE_NOT_FOUND"
    assert films.fail("SELECT * FROM fewer").startswith(stale)
    films.ask("DROP VIEW IF EXISTS few")
    name = f"'awsdatacatalog.{films.database}.few'"
    assert films.fail("DROP VIEW few") == f"VIEW_NOT_FOUND: line 1:11: View {name} does not exist"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "CREATE TABLE t WITH (partitioned_by = ARRAY['a']) AS SELECT 1 AS a, 2 AS b",
            "HIVE_COLUMN_ORDER_MISMATCH: Partition keys must be the last columns in the table and "
            "in the same order as the table properties: [a]",
        ),
        (
            "CREATE TABLE t WITH (partitioned_by = ARRAY['b']) AS "
            "SELECT 1 AS a, b FROM UNNEST(sequence(1, 101)) AS s(b)",
            "HIVE_TOO_MANY_OPEN_PARTITIONS: Exceeded limit of 100 open writers for "
            "partitions/buckets",
        ),
        (
            "CREATE TABLE t AS SELECT 1",
            "MISSING_COLUMN_NAME: line 1:1: Column name not specified at position 1",
        ),
        (
            "CREATE VIEW t AS SELECT 1 AS a, 2 AS a",
            "DUPLICATE_COLUMN_NAME: line 1:1: Column name 'a' specified more than once",
        ),
        (
            "CREATE TABLE t AS SELECT now() AS a",
            "NOT_SUPPORTED: Unsupported Hive type: timestamp(3) with time zone",
        ),
        (
            "CREATE TABLE t WITH (format = 'ORC') AS SELECT 1 AS a",
            "NOT_SUPPORTED: the table property format = 'ORC' is not supported by localcloud, only "
            "PARQUET",
        ),
        (
            "CREATE TABLE t WITH (bucket_count = 3) AS SELECT 1 AS a",
            "NOT_SUPPORTED: the table property bucket_count is not supported by localcloud",
        ),
        (
            "CREATE TABLE t WITH (external_location = '/tmp') AS SELECT 1 AS a",
            "INVALID_TABLE_PROPERTY: External location must be a URI of S3: /tmp",
        ),
        (
            "CREATE TABLE nowhere.t AS SELECT 1 AS a",
            "SCHEMA_NOT_FOUND: Database nowhere not found",
        ),
        (
            "DROP TABLE readings",
            "NOT_SUPPORTED: DROP TABLE of Iceberg, which deletes the files, is not supported by "
            "localcloud",
        ),
    ],
)
def test_a_table_or_view_that_athena_would_not_make_is_refused(lake, sql, said):
    assert lake.fail(sql).startswith(said)
