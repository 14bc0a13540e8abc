"""Tables of plain Parquet files: their columns, partitions and footers against events."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from penstock.aws import AwsClient, Service
from penstock.errors import OperationError, SinkUnavailableError
from penstock.extensions.drift import _clients as drift_clients
from penstock.extensions.drift import inspection
from penstock.extensions.drift._clients import Clients
from penstock.extensions.drift._comparison import Footer, compare_footers, compare_partition
from penstock.extensions.drift._footers import read_footer
from penstock.extensions.drift.inspection import Limits, TableTarget, inspect_tables, sync_tables
from penstock.extensions.parquet.glue_table import GlueTable
from penstock.extensions.parquet.spark.columns import PARTITION_KEYS, grow_columns
from penstock.spark.columns import to_spark
from penstock.tables.columns import Column, Struct
from systems.sessions import make_session
from tests.fixtures.lakes import ACCOUNT, Lake, event_of, lake

__all__ = ["lake"]


def _find(lake: Lake, event: Struct) -> list[tuple[Any, ...]]:
    found = inspect_tables([TableTarget(event, (lake.name("p"),))])
    return [
        (
            each.place.replace(lake.database, "db").replace(lake.bucket, "b"),
            each.column,
            each.found,
            each.expected,
            each.count,
        )
        for each in found.differences
    ]


def test_a_table_of_the_job_keeps_a_field_beside_a_partition_key(lake: Lake) -> None:
    event = event_of(day="string")
    lake.create_files("p", {"day_2": "string"}, "query", "batch", "part", "day")

    assert _find(lake, event) == []


def test_partitions_that_differ_alike_are_one_difference_and_compared_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create_files("p", {"a": "int"}, "day")
    for day, type_ in (("1", "int"), ("2", "string"), ("3", "string"), ("4", "int")):
        columns = [{"Name": "a", "Type": type_}]
        lake.glue.create_partition(
            DatabaseName=lake.database,
            TableName="p",
            PartitionInput={"Values": [day], "StorageDescriptor": {"Columns": columns}},
        )
    compared: list[Any] = []

    def compare(columns: Any, target: Struct) -> Any:
        compared.append(columns)
        return compare_partition(columns, target)

    monkeypatch.setattr(inspection, "compare_partition", compare)

    assert _find(lake, event_of(a="int")) == [
        ("glue db.p partitions such as 2", "a", "string", "int", 2)
    ]
    assert len(compared) == 2


def test_partitions_are_read_page_by_page() -> None:
    pages = [{"Partitions": [{"Values": [day]}]} for day in "12"]
    read = iter(pages)
    clients = Clients()
    clients._clients["glue"] = Mock(**{"get_paginator.return_value.paginate.return_value": read})
    table = drift_clients.GlueTable(
        {"DatabaseName": "db", "Name": "p", "PartitionKeys": [{"Name": "day"}]}
    )

    found = iter(clients.list_partitions(table))

    assert next(found) == {"Values": ["1"]}
    assert next(read) is pages[1]


def test_columns_partitions_and_old_files_of_a_plain_table(lake: Lake) -> None:
    lake.create_files("p", {"a": "int", "b": "bigint", "devicename": "string"}, "day")
    small = pa.scalar(1, pa.int32())
    lake.put_file("p/day=1/x.parquet", a=small, b=1, deviceName="x")
    for at in range(2):
        lake.put_file(f"p/day=2/{at}.parquet", a=1.5, zz="x", s={"X": 1}, t={"X": 1}, day="2")
    for hidden in ("p/day=2/_SUCCESS", "p/_temporary/x.parquet", "p/.x.parquet"):
        lake.s3.put_object(Bucket=lake.bucket, Key=f"files/{hidden}", Body=b"none")
    lake.put_file("elsewhere/x.parquet", b="x")
    elsewhere = f"s3://{lake.bucket}/files/elsewhere"
    columns = [{"Name": "a", "Type": "string"}, {"Name": "only", "Type": "int"}]
    lake.glue.create_partition(
        DatabaseName=lake.database,
        TableName="p",
        PartitionInput={
            "Values": ["1"],
            "StorageDescriptor": {"Columns": columns, "Location": elsewhere},
        },
    )
    fields = [{"name": "X", "type": "long"}, {"name": "x", "type": "int"}]
    inner = {"type": "record", "name": "i", "fields": fields}
    event = event_of(a="long", b="double", deviceName="string", s=inner, T="string", Day="string")
    of_files = [
        ("glue db.p", "b", "bigint", "double", 1),
        ("glue db.p partition 1", "a", "string", "bigint", 1),
        ("parquet s3://b/files/p/day=2/", "a", "double", "bigint", 2),
        ("parquet s3://b/files/p/day=2/", "zz", "string", "no column", 2),
        ("parquet s3://b/files/p/day=2/", "t", "struct<x:bigint>", "string", 2),
        ("parquet s3://b/files/elsewhere/", "b", "string", "bigint", 1),
    ]

    assert _find(lake, event) == [
        ("glue db.p", "s", "no column", "struct<X:bigint,x_2:int>", 1),
        ("glue db.p", "T", "no column", "string", 1),
        ("glue db.p", "Day_2", "no column", "string", 1),
        ("glue db.p", "a", "int", "bigint", 1),
        *of_files,
    ]
    (synced,) = sync_tables([TableTarget(event, (lake.name("p"),))], apply=True)
    assert synced.applied
    assert lake.columns("p") == {
        "a": "bigint",
        "b": "bigint",
        "devicename": "string",
        "s": "struct<x:bigint,x_2:int>",
        "t": "string",
        "day_2": "string",
    }
    found = lake.glue.get_table(DatabaseName=lake.database, Name="p")["Table"]
    assert {
        each["Name"]: (each.get("Comment", ""), each.get("Parameters"))
        for each in found["StorageDescriptor"]["Columns"]
        if each.get("Comment") or each.get("Parameters")
    } == {
        "devicename": ("field deviceName", None),
        "s": (
            "",
            {
                "penstock.type": "struct<X:bigint,x_2:int>",
                "penstock.comments": '{"x_2": "field x"}',
            },
        ),
        "t": ("field T", None),
        "day_2": ("field Day", None),
    }
    assert _find(lake, event) == of_files
    (again,) = sync_tables([TableTarget(event, (lake.name("p"),))], apply=True)
    assert (again.changes, again.applied) == ((), False)


def test_a_new_column_with_another_name_has_its_field_in_the_comment(lake: Lake) -> None:
    lake.create_files("p", {"temp": "int"})
    target = TableTarget(event_of(Temp="int", temp="long"), (lake.name("p"),))

    (synced,) = sync_tables([target], apply=True)

    found = lake.glue.get_table(DatabaseName=lake.database, Name="p")["Table"]
    column = found["StorageDescriptor"]["Columns"][-1]
    assert synced.applied
    assert (column["Name"], column["Type"], column["Comment"]) == ("temp_2", "int", "field Temp")


def test_a_job_does_not_change_the_columns_that_a_sync_made(lake: Lake) -> None:
    where, client = f"s3://{lake.bucket}/files/p", AwsClient(Service.GLUE, make_session(ACCOUNT))
    job = GlueTable(lake.name("p"), where, PARTITION_KEYS, client)
    inner = {"type": "record", "name": "i", "fields": [{"name": "X", "type": "long"}]}
    versions = [event_of(a="int"), event_of(a="long", day="string", deviceName="string", s=inner)]

    def grow(event: Struct) -> str:
        job.grow(lambda found: grow_columns(job.name, found, to_spark(event)))
        found = lake.glue.get_table(DatabaseName=lake.database, Name="p")["Table"]
        return str(found["VersionId"])

    before = grow(versions[0])
    (synced,) = sync_tables([TableTarget(versions[1], (job.name,))], apply=True)

    assert (synced.applied, synced.left) == (True, ())
    assert int(grow(versions[1])) == int(before) + 1  # the sync's


def test_a_table_that_somebody_changed_meanwhile_is_read_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create_files("p", {"a": "int"})
    set_columns, left = Clients.set_columns, [1]

    def lose(self: Clients, table: Any, columns: Any) -> bool:
        if left[0]:
            left[0] -= 1
            assert set_columns(self, table, table.found["StorageDescriptor"]["Columns"])
        return set_columns(self, table, columns)

    monkeypatch.setattr(Clients, "set_columns", lose)
    clients = Clients()
    (synced,) = sync_tables(
        [TableTarget(event_of(a="long"), (lake.name("p"),))], apply=True, clients=clients
    )

    assert synced.applied and lake.columns("p") == {"a": "bigint"}
    assert clients.calls == {"GetTable": 2, "UpdateTable": 3}


def test_a_footer_is_one_range_or_two(lake: Lake) -> None:
    lake.put_file("x.parquet", a=1)
    wide = {f"a_column_with_a_long_name_{at}": at for at in range(1_000)}
    lake.put_file("y.parquet", **wide)
    clients = Clients()

    assert read_footer(clients, f"s3://{lake.bucket}/files/x.parquet").columns == Struct(
        (Column("a", "bigint"),)
    )
    assert clients.calls == {"GetObject": 1}
    assert len(read_footer(clients, f"s3://{lake.bucket}/files/y.parquet").columns.columns) == 1_000
    assert clients.calls == {"GetObject": 3}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no file", r"x is no Parquet file, expected it to end with PAR1"),
        (b"PAR1nonsense\x08\0\0\0PAR1", r"the footer of s3://.*x cannot be read: "),
    ],
)
def test_an_object_that_is_no_parquet_file(lake: Lake, body: bytes, said: str) -> None:
    lake.s3.put_object(Bucket=lake.bucket, Key="x", Body=body)

    with pytest.raises(OperationError, match=said):
        read_footer(Clients(), f"s3://{lake.bucket}/x")


def test_errors_of_aws_are_translated(lake: Lake) -> None:
    with pytest.raises(SinkUnavailableError, match=r"x cannot be read: .*NoSuchKey"):
        Clients().read(f"s3://{lake.bucket}/x")
    with pytest.raises(OperationError, match=r"database none cannot be read: .*Database none"):
        Clients().find_tables(["none.a", "none.b"])
    assert Clients().find_tables(["none.a"]) == {}


def test_files_with_and_without_field_ids() -> None:
    target = Struct((Column("a", "int"), Column("T", "timestamp_ntz")))
    fields = {1: ("a", "int"), 2: ("T", "timestamp")}
    footers = [
        ("s3://b/x/1", Footer(Struct(), {1: "bigint", 2: "timestamp", 9: "string"})),
        ("s3://b/x/2", Footer(Struct((Column("t", "timestamp"), Column("A", "string"))), {})),
    ]

    def compare(**more: Any) -> list[tuple[str, str, str]]:
        found = compare_footers(footers, target, fields, **more)
        return [(each.column, each.found, each.expected) for each in found]

    assert compare() == [("a", "bigint", "int"), ("a", "string", "int")]
    assert compare(named=False) == [
        ("a", "bigint", "int"),
        ("*", "no field ids", "Iceberg's field ids"),
    ]


def test_names_of_a_file_that_differ_in_case_only() -> None:
    columns = Struct((Column("a", "int"), Column("A", "int")))

    (found,) = compare_footers([("s3://b/x", Footer(columns, {}))], columns)

    assert (found.column, found.found, found.expected) == ("A", "a and A", "one name")


def test_the_oldest_and_the_newest_file_of_each_folder_come_first(lake: Lake) -> None:
    lake.create_files("p", {"a": "int"})
    for folder, files in {"x": 4, "y": 1, "z": 2}.items():
        for at in range(files):
            lake.put_file(f"p/{folder}/{at}.parquet", a=f"text {at}")
    target = TableTarget(event_of(a="int"), (lake.name("p"),))

    few = inspect_tables([target], Limits(files=5))
    found = inspect_tables([target])

    assert (few.files, few.files_left, found.files, found.files_left) == (5, 2, 7, 0)
    assert [(each.place[-3:], each.count) for each in few.differences] == [
        ("/x/", 2),
        ("/y/", 1),
        ("/z/", 2),
    ]


def test_a_view_has_no_files_to_compare(lake: Lake) -> None:
    view = {"Name": "v", "TableType": "VIRTUAL_VIEW"}
    lake.glue.create_table(DatabaseName=lake.database, TableInput=view)

    with pytest.raises(OperationError, match=r"\.v has no files, expected a table and no view"):
        inspect_tables([TableTarget(event_of(a="int"), (lake.name("v"),))])


def test_a_sync_does_without_pyarrow() -> None:
    """A function that syncs tables has no room for it."""
    hide = "import sys; sys.modules['pyarrow'] = None"
    code = f"{hide}; from penstock.extensions.drift.inspection import sync_tables"

    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
