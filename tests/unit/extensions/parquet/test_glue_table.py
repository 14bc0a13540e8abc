"""A Glue table of files: created once, columns of all writers, partitions of complete parts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from localcloud.cloud import Cloud
from penstock.attempts import Attempts
from penstock.aws import AwsClient, Service
from penstock.errors import SettingsError, SinkAccessDeniedError, SinkUnavailableError
from penstock.extensions.parquet.glue_table import GlueTable
from systems.sessions import make_session

_KEYS = {"batch": "bigint", "day": "date"}
_A = {"Name": "a", "Type": "int"}
_B = {"Name": "b", "Type": "string"}


@pytest.fixture
def glue(cloud: Cloud, session: boto3.Session) -> Any:
    return session.client("glue", endpoint_url=cloud.endpoint)


@pytest.fixture
def database(glue: Any) -> Iterator[str]:
    name = f"db_{secrets.token_hex(4)}"
    glue.create_database(DatabaseInput={"Name": name})
    yield name
    glue.delete_database(Name=name)


@pytest.fixture
def open_table(cloud: Cloud, database: str) -> Callable[..., GlueTable]:
    def open_table(location: str = "s3://b/plain", **more: Any) -> GlueTable:
        client = AwsClient(Service.GLUE, make_session("111111111111"), endpoint=cloud.endpoint)
        return GlueTable(f"{database}.t", location, _KEYS, more.pop("client", client), **more)

    return open_table


def _add(column: dict[str, Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda columns: columns if column in columns else [*columns, column]


def test_columns_are_added_to_those_of_others(open_table, glue, database):
    assert open_table().grow(_add(_A)) == [_A]
    glue.update_table(
        DatabaseName=database,
        TableInput=_input(glue.get_table(DatabaseName=database, Name="t")["Table"], owner="me"),
    )

    assert open_table().grow(_add(_B)) == [_A, _B]

    found = glue.get_table(DatabaseName=database, Name="t")["Table"]
    assert found["StorageDescriptor"]["Columns"] == [_A, _B]
    assert found["StorageDescriptor"]["Location"] == "s3://b/plain/"
    assert found["PartitionKeys"] == [{"Name": n, "Type": t} for n, t in _KEYS.items()]
    assert found["TableType"] == "EXTERNAL_TABLE"
    expected = {"EXTERNAL": "TRUE", "classification": "parquet", "owner": "me"}
    assert found["Parameters"] == expected


def _input(table, **parameters):
    named = {name: table[name] for name in ("Name", "StorageDescriptor", "PartitionKeys")}
    more = {"Parameters": table["Parameters"] | parameters, "TableType": table["TableType"]}
    return named | more


def test_a_column_of_a_faster_writer_is_kept(open_table, glue, database):
    """Another writer creates the table, then changes it, each time after we have read it."""
    others = iter([_A, {"Name": "c", "Type": "int"}])

    def plan(columns):
        other = next(others, None)
        if other:
            open_table().grow(_add(other))
        return _add(_B)(columns)

    columns = open_table().grow(plan)

    assert [each["Name"] for each in columns] == ["a", "c", "b"]
    found = glue.get_table(DatabaseName=database, Name="t")["Table"]["StorageDescriptor"]
    assert found["Columns"] == columns


def test_nothing_is_written_without_a_change(open_table, glue, database):
    for _ in range(2):
        open_table().grow(_add(_A))

    assert glue.get_table(DatabaseName=database, Name="t")["Table"]["VersionId"] == "1"


def test_partitions_are_added_once(open_table, glue, database):
    table = open_table()
    table.grow(_add(_A))
    places = {(str(n), "2026-11-22"): f"s3://b/plain/batch={n}/day=2026-11-22/" for n in range(150)}

    table.add_partitions(dict(list(places.items())[:1]))
    open_table().add_partitions(places)  # by a driver that has changed no column

    pages = glue.get_paginator("get_partitions").paginate(DatabaseName=database, TableName="t")
    found = [each for page in pages for each in page["Partitions"]]
    assert {tuple(p["Values"]): p["StorageDescriptor"]["Location"] for p in found} == places
    assert all(each["StorageDescriptor"]["Columns"] == [_A] for each in found)
    assert table.has_partition("batch = 149")
    assert not table.has_partition("batch = 150")


@pytest.mark.parametrize(
    ("location", "parameters"),
    [("s3://b/other", {}), ("s3://b/plain", {"keys": []}), ("s3://b/plain", {"library": "json"})],
)
def test_a_table_of_something_else_is_refused(open_table, glue, database, location, parameters):
    keys = [{"Name": n, "Type": t} for n, t in parameters.get("keys", _KEYS.items())]
    library = {"SerializationLibrary": parameters.get("library", "x.ParquetHiveSerDe")}
    storage = {"Columns": [_A], "Location": location, "SerdeInfo": library}
    table = {"Name": "t", "StorageDescriptor": storage, "PartitionKeys": keys}
    glue.create_table(DatabaseName=database, TableInput=table)

    with pytest.raises(
        SettingsError,
        match=r"db_\w+\.t is a table of .* with the partition keys .*, expected one of Parquet "
        "files in s3://b/plain with batch, day: name another table",
    ):
        open_table().grow(_add(_B))


class _Answers:
    """A client of Glue that answers as told: an error's code, or an answer."""

    def __init__(self, **answers):
        self.answers = answers
        self.calls = []

    def call(self, operation, _request):
        self.calls.append(operation)
        found = self.answers[operation]
        if isinstance(found, str):
            raise ClientError({"Error": {"Code": found, "Message": "no"}}, operation)
        return found


# Each look at the clock takes a second, so the number of attempts does not depend on the machine.
_SHORT = Attempts(1, 1, 3, sleep=lambda _: None, clock=count().__next__)
_TABLE = {
    "Name": "t",
    "VersionId": "1",
    "StorageDescriptor": {
        "Columns": [_A],
        "Location": "s3://b/plain/",
        "SerdeInfo": {"SerializationLibrary": "ParquetHiveSerDe"},
    },
    "PartitionKeys": [{"Name": name} for name in _KEYS],
}


@pytest.mark.parametrize(
    ("code", "error", "calls"),
    [
        ("AccessDeniedException", SinkAccessDeniedError, 1),
        ("InvalidInputException", SinkUnavailableError, 1),
    ],
)
def test_a_refusal_is_not_repeated(open_table, code, error, calls):
    client = _Answers(GetTable=code)

    with pytest.raises(error, match=rf"t: .*{code}"):
        open_table(client=client, attempts=_SHORT).grow(_add(_A))

    assert len(client.calls) == calls


def test_an_outage_is_repeated_and_then_said(open_table):
    client = _Answers(GetTable="InternalServiceException")

    with pytest.raises(SinkUnavailableError, match=r"Glue's GetTable failed: .*Internal"):
        open_table(client=client, attempts=_SHORT).grow(_add(_A))

    assert client.calls == ["GetTable"] * 3


def test_a_table_that_others_change_all_the_time_is_given_up(open_table):
    client = _Answers(GetTable={"Table": _TABLE}, UpdateTable="ConcurrentModificationException")

    with pytest.raises(
        SinkUnavailableError, match=r"could not be changed for 3 s: each time another writer"
    ):
        open_table(client=client, attempts=_SHORT).grow(_add(_B))


def test_a_partition_that_glue_refuses_is_an_error(open_table):
    detail = {"ErrorCode": "InternalServiceException", "ErrorMessage": "later"}
    refused = {"Errors": [{"PartitionValues": ["1"], "ErrorDetail": detail}]}
    client = _Answers(GetTable={"Table": _TABLE}, BatchCreatePartition=refused)
    table = open_table(client=client, attempts=_SHORT)
    table.grow(_add(_A))

    with pytest.raises(
        SinkUnavailableError,
        match=r"a partition could not be added: InternalServiceException: later",
    ):
        table.add_partitions({("1", "2026-11-22"): "s3://b/plain/x/"})


def test_partitions_are_looked_for_on_all_pages(open_table):
    found = {"Values": ["1", "2026-11-22"], "StorageDescriptor": {"Location": "s3://b/x/"}}
    pages = [{"Partitions": [], "NextToken": "x"}, {"Partitions": [found]}]
    answers = iter(pages * 2)
    client = _Answers()
    client.call = lambda _operation, _request: next(answers)

    assert open_table(client=client).has_partition("batch = 1")
    assert open_table(client=client).find_partitions("batch = 1") == {
        ("1", "2026-11-22"): "s3://b/x/"
    }


def test_partitions_of_days_are_found_unless_glue_cannot_compare(open_table):
    table = open_table()
    is_among = "day IN ('2026-11-22', '2026-11-24')"
    assert table.find_partitions(is_among) is None  # there is no table
    places = {(str(n), f"2026-11-2{n}"): f"s3://b/plain/batch={n}/" for n in range(1, 5)}
    table.add_partitions(places)

    assert table.find_partitions(is_among) == dict(list(places.items())[1::2])
    assert table.find_partitions("day IN ('+294247-01-10')") is None
    table.add_partitions({("9", "+294247-01-10"): "s3://b/plain/batch=9/"})
    assert table.find_partitions(is_among) is None
    assert len(table.find_partitions("batch > 0")) == 5


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("AccessDeniedException", SinkAccessDeniedError),
        ("InternalServiceException", SinkUnavailableError),
    ],
)
def test_partitions_that_glue_does_not_tell_are_an_error(open_table, code, error):
    with pytest.raises(error, match=code):
        open_table(client=_Answers(GetPartitions=code), attempts=_SHORT).find_partitions(
            "batch > 0"
        )
