"""Athena reads the tables of the Glue catalog: Parquet, partitions, JSON, Iceberg."""

from __future__ import annotations

import pyarrow as pa


def test_a_parquet_table_is_read_by_the_names_of_its_columns(lake):
    assert lake.ask("SELECT * FROM devices ORDER BY id") == [
        ["id", "name", "rate", "later"],
        ["1", "one", None, None],
        ["2", None, None, None],
        ["3", "three", "30.5", None],
    ]


def test_partitions_are_columns(lake):
    rows = lake.ask("SELECT day, count(*) AS n FROM days GROUP BY day ORDER BY day")
    assert rows == [["day", "n"], ["2026-11-20", "2"], ["2026-11-21", "1"]]


def test_lines_of_json_are_rows(lake):
    rows = lake.ask("SELECT reason, place.topic, place.number + 1 FROM parked")
    assert rows == [["reason", "topic", "_col2"], ['{"why": "oversize"}', "t", "8"]]


def test_a_table_of_iceberg_is_read(lake):
    assert lake.ask("SELECT * FROM readings ORDER BY device") == [
        ["device", "at", "value"],
        ["a", "2026-11-21 12:00:00.000 UTC", "30.5"],
        ["b", None, "1.0E10"],
    ]


def test_a_missing_list_or_map_is_null_and_not_empty(lake):
    error = pa.struct([("code", pa.int64())])
    rows = {
        "id": pa.array([1, 2, 3]),
        "errors": pa.array([None, [], [{"code": 7}]], pa.list_(error)),
        "named": pa.array([None, [], [("k", {"code": 7})]], pa.map_(pa.string(), error)),
    }
    lake.make_iceberg("faults", pa.table(rows))
    columns = ["id bigint", "errors array<struct<code:bigint>>"]
    lake.make_table("plain_faults", [*columns, "named map<string,struct<code:bigint>>"])
    lake.put_parquet("plain_faults/a.parquet", pa.table(rows))
    for table in ("faults", "plain_faults"):
        found = lake.ask(
            "SELECT errors IS NULL, cardinality(errors), errors, named IS NULL, cardinality(named) "
            f"FROM {table} ORDER BY id"
        )
        assert found[1:] == [
            ["true", None, None, "true", None],
            ["false", "0", "[]", "false", "0"],
            ["false", "1", "[{code=7}]", "false", "1"],
        ]


def test_the_columns_of_tables_are_a_table(lake):
    lake.make_table("described", ["Id bigint", "marks array<struct<a:string>>"], keys=["day date"])
    found = lake.client("glue").get_table(DatabaseName=lake.database, Name="described")["Table"]
    found["StorageDescriptor"]["Columns"][0]["Comment"] = 'field "ID"'
    kept = {key: found[key] for key in ("Name", "StorageDescriptor", "PartitionKeys")}
    lake.client("glue").update_table(DatabaseName=lake.database, TableInput=kept)
    rows = lake.ask(
        "SELECT column_name, ordinal_position, data_type, comment, extra_info "
        "FROM information_schema.columns c "
        f"WHERE c.table_schema = '{lake.database}' AND table_name = 'described' ORDER BY 2"
    )
    assert rows[1:] == [
        ["id", "1", "bigint", 'field "ID"', None],
        ["marks", "2", "array(row(a varchar))", None, None],
        ["day", "3", "date", None, "partition key"],
    ]
    assert "TABLE_NOT_FOUND" in lake.fail("SELECT * FROM information_schema.tables")


def test_tables_of_any_kind_are_joined_under_their_full_names(lake):
    name = f'"AwsDataCatalog"."{lake.database}"'
    rows = lake.ask(
        f"WITH few AS (SELECT * FROM {name}.DEVICES WHERE id > ?) "
        f"SELECT count(*), max(few.name) FROM few, {lake.database}.readings",
        QueryExecutionContext={},
        ExecutionParameters=["2"],
    )
    assert rows == [["_col0", "_col1"], ["2", "three"]]


def test_an_empty_table_has_its_columns(lake):
    lake.make_table("empty", ["id bigint"])
    assert lake.ask("SELECT count(*) AS n, sum(id) AS s FROM empty") == [["n", "s"], ["0", None]]


def test_tables_that_cannot_be_read_say_why(lake):
    lake.make_table("words", ["id bigint"])
    lake.put_parquet("words/a.parquet", pa.table({"id": ["x"]}))
    lake.make_table("projected", ["id bigint"], **{"projection.enabled": "true"})
    lake.make_table("strange", ["id interval"])
    lake.make_table("lines", ["id bigint"], "org.apache.hadoop.hive.serde2.OpenCSVSerde")
    lake.make_table("broken", ["id bigint"])
    lake.put("broken/a.parquet", b"no parquet")
    here = {"table_type": "ICEBERG", "metadata_location": "file:///etc/passwd"}
    lake.make_table("local", ["id bigint"], **here)

    for name, said in {
        "words": "Field id's type string in parquet file is incompatible with type int64 ",
        "projected": "partition projection is not supported",
        "strange": "the catalog type 'interval' is not supported",
        "lines": "tables of org.apache.hadoop.hive.serde2.OpenCSVSerde are not supported, only ",
        "broken": "",
        "local": "the metadata at file:///etc/passwd is not on S3",
    }.items():
        start = f"HIVE_BAD_DATA: Cannot read {lake.database}.{name}: {said}"
        reason = lake.fail(f"SELECT * FROM {name}")
        assert reason.startswith(start)
