"""Differences between events and Iceberg tables are named, and the safe ones are removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from botocore.session import Session
from pyiceberg import types as iceberg
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.exceptions import CommitFailedException, ValidationError

from localcloud.testing.policies import allow, document, make_role, trust
from penstock.attempts import Attempts
from penstock.errors import OperationError, SinkAccessDeniedError, SinkUnavailableError
from penstock.extensions.drift._clients import Clients
from penstock.extensions.drift.inspection import Limits, TableTarget, inspect_tables, sync_tables
from penstock.extensions.drift.operation import TableSettings, sync_lake
from systems.sessions import REGION
from tests.fixtures.lakes import ACCOUNT, Lake, event_of, lake

__all__ = ["lake"]

# What the plan of the extension `sync` lets its function do, and where.
_PLANNED = Path(__file__).parents[4] / "tests/infra/sync/full.policies.yaml"
_SYNC = "module.function.module.function.aws_iam_role_policy.work[0]"
_BUCKET, _DATABASE = "penstock-analytics-lake", "penstock_analytics_lake"
_PRODUCER = "333333333333"
_READER = f"arn:aws:iam::{_PRODUCER}:role/penstock-analytics-reader"
_INT, _LONG, _FLOAT = iceberg.IntegerType(), iceberg.LongType(), iceberg.FloatType()
_DOUBLE, _TEXT = iceberg.DoubleType(), iceberg.StringType()


def _record(**types: Any) -> dict[str, Any]:
    fields = [{"name": name, "type": type_} for name, type_ in types.items()]
    return {"type": "record", "name": f"r{'_'.join(types)}", "fields": fields}


def _find(lake: Lake, event: Any, table: str = "t", **more: Any) -> list[tuple[str, ...]]:
    found = inspect_tables([TableTarget(event, (lake.name(table),))], **more)
    return [
        (each.place.replace(lake.database, "db"), each.column, each.found, each.expected)
        for each in found.differences
    ]


def _sync(lake: Lake, event: Any, table: str = "t", *, apply: bool = True) -> Any:
    (synced,) = sync_tables([TableTarget(event, (lake.name(table),))], apply=apply)
    return synced


def test_an_iceberg_table_grows_in_one_commit_and_then_fits(lake: Lake) -> None:
    inner = iceberg.StructType(
        iceberg.NestedField(90, "x", _INT, required=True),
        iceberg.NestedField(94, "key", _INT, required=True),
    )
    lake.create(
        "t",
        ("a", _INT),
        ("b", _FLOAT, {"required": True}),
        ("s", inner),
        ("l", iceberg.ListType(91, inner, element_required=True)),
        ("m", iceberg.MapType(92, _TEXT, 93, iceberg.DecimalType(5, 2))),
    )
    money = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    event = event_of(
        a="long",
        b="double",
        s=_record(x="long", key="int", y="string"),
        l={"type": "array", "items": _record(x="int", key="int", z=["null", "double"])},
        m={"type": "map", "values": money},
        n={"type": "array", "items": _record(Temp="int", temp="string")},
        Temp="double",
        temp="double",
    )
    expected = {
        ("a", "int", "bigint"),
        ("b", "float", "double"),
        ("b", "required", "optional"),
        ("s.x", "int", "bigint"),
        ("s.x", "required", "optional"),
        ("s.key", "required", "optional"),
        ("s.y", "no column", "string"),
        ("l.element", "required", "optional"),
        ("l.element.x", "required", "optional"),
        ("l.element.key", "required", "optional"),
        ("l.element.z", "no column", "double"),
        ("m.value", "decimal(5,2)", "decimal(9,2)"),
        ("m.value", "required", "optional"),
        ("n", "no column", "array<struct<Temp:int,temp_2:string>>"),
        ("Temp", "no column", "double"),
        ("temp_2", "no column", "double"),
    }

    found = _find(lake, event)
    planned = _sync(lake, event, apply=False)
    before = lake.load("t").metadata
    done = _sync(lake, event)
    after = lake.load("t").metadata

    assert {each[1:] for each in found if each[0] == "iceberg db.t"} == expected
    assert {each[1] for each in found if each[0] == "glue db.t"} == {
        "a", "b", "s", "l", "m", "n", "temp", "temp_2",
    }  # fmt: skip
    assert not planned.applied and done.applied
    assert planned.changes == done.changes and planned.left == done.left == ()
    assert len(after.metadata_log) == len(before.metadata_log) + 1
    assert lake.columns("t") == {
        "a": "bigint",
        "b": "double",
        "s": "struct<x:bigint,key:int,y:string>",
        "l": "array<struct<x:int,key:int,z:double>>",
        "m": "map<string,decimal(9,2)>",
        "n": "array<struct<Temp:int,temp_2:string>>",
        "Temp": "double",
        "temp_2": "double",
    }
    assert _find(lake, event) == []
    again = _sync(lake, event)
    assert (again.changes, again.left, again.applied) == ((), (), False)


def test_an_unsafe_change_is_left_with_its_instruction(lake: Lake) -> None:
    lake.create("t", ("a", _LONG), ("b", _TEXT), ("gone", _TEXT), ("A", _TEXT), ("d", _DOUBLE))
    event = event_of(a="double", b="int", d="long", s=_record(x="string"))

    synced = _sync(lake, event)

    assert {(each.column, each.expected) for each in synced.changes} == {("s", "struct<x:string>")}
    assert [(each.column, each.found, each.expected, each.advice[:25]) for each in synced.left] == [
        ("a", "bigint", "double", "its files must be written"),
        ("b", "string", "int", "no column holds both type"),
        ("gone", "string", "no column", "no event fills it: keep i"),
        ("A", "string", "no column", "no event fills it: keep i"),
        ("A", "a and A", "one name", "Athena rejects names that"),
    ]
    again = _sync(lake, event)
    assert (again.changes, again.left, again.applied) == ((), synced.left, False)


def test_a_renamed_column_keeps_its_field_by_its_comment(lake: Lake) -> None:
    lake.create("t", ("pressure_bar", _DOUBLE, {"doc": "field pressure"}), ("flow", _DOUBLE))

    assert _find(lake, event_of(pressure="float", flow="double")) == []


def test_columns_of_ours_are_added_and_compared(lake: Lake) -> None:
    lake.create("t", ("_offset", _INT), ("_before_1_a", _INT), ("a", _INT), own=False)

    synced = _sync(lake, event_of(a="int"))

    assert [each.column for each in synced.changes if each.place.startswith("iceberg")] == [
        "_event_time",
        "_topic",
        "_kafka_partition",
        "_kafka_timestamp",
        "_schema_id",
        "_schema_version",
    ]
    assert [(each.column, each.found, each.expected) for each in synced.left] == [
        ("_offset", "int", "bigint")
    ]


def test_files_of_a_table_are_compared_by_field_id(lake: Lake) -> None:
    table = lake.create("t", ("a", _INT), ("b", _TEXT), own=False)
    table.append(pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}))
    event = event_of(a="long", b="string")
    _sync(lake, event)
    lake.load("t").append(pa.table({"a": pa.array([1]), "b": ["x"]}))
    clients = Clients()

    assert _find(lake, event, clients=clients) == []
    # The metadata, a manifest list, a manifest and a file for each of two appends.
    assert clients.calls == {"GetTable": 1, "GetObject": 1 + 1 + 2 + 2}

    with lake.load("t").update_schema() as update:
        update.rename_column("b", "c")
    assert _find(lake, event) == [
        ("iceberg db.t", "b", "no column", "string"),
        ("iceberg db.t", "c", "string", "no column"),
        ("glue db.t", "b", "no column", "string"),
    ]


def test_a_copy_in_glue_that_somebody_edited_is_written_again(lake: Lake) -> None:
    lake.create("t", ("a", _INT), ("dropped", _INT))
    with lake.load("t").update_schema() as update:
        update.delete_column("dropped")
    found = lake.glue.get_table(DatabaseName=lake.database, Name="t")["Table"]
    storage = found["StorageDescriptor"]
    kept = [each for each in storage["Columns"] if each["Name"] != "a"]
    edited = {
        "Name": "t",
        "TableType": found["TableType"],
        "Parameters": found["Parameters"],
        "StorageDescriptor": {**storage, "Columns": [*kept, {"Name": "z", "Type": "int"}]},
    }
    lake.glue.update_table(DatabaseName=lake.database, TableInput=edited)
    event = event_of(a="int")

    before = lake.load("t").metadata_location
    assert _find(lake, event) == [
        ("glue db.t", "a", "no column", "int"),
        ("glue db.t", "z", "int", "no column"),
    ]
    assert _sync(lake, event).applied
    assert _find(lake, event) == []
    assert lake.load("t").metadata_location == before


def test_old_metadata_is_deleted_as_the_table_says(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lake.create("t")
    with lake.load("t").transaction() as change:
        change.set_properties(
            {
                "write.metadata.delete-after-commit.enabled": "true",
                "write.metadata.previous-versions-max": "1",
            }
        )
    clients = Clients()
    target = lake.name("t")

    for event in (event_of(a="int"), event_of(a="long")):
        (synced,) = sync_tables([TableTarget(event, (target,))], apply=True, clients=clients)
        assert synced.applied
    assert clients.calls["DeleteObject"] == 2

    def deny(_: Clients, location: str) -> None:
        raise SinkAccessDeniedError(f"{location} cannot be deleted: AccessDenied")

    monkeypatch.setattr(Clients, "delete", deny)
    assert _sync(lake, event_of(a="long", b="int")).applied
    assert "Failed to delete metadata file" in caplog.text


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, r"\.t is an Iceberg table without a metadata_location"),
        ({"metadata_location": "s3://{}/x"}, r"the metadata of .*\.t cannot be read: .+"),
    ],
)
def test_unreadable_metadata_is_an_error(lake: Lake, parameters: dict[str, str], said: str) -> None:
    lake.s3.put_object(Bucket=lake.bucket, Key="x", Body=b'{"format-version": 9}')
    place = {name: text.format(lake.bucket) for name, text in parameters.items()}
    entry = {"Name": "t", "Parameters": {"table_type": "ICEBERG", **place}}
    lake.glue.create_table(DatabaseName=lake.database, TableInput=entry)

    with pytest.raises(OperationError, match=said):
        _sync(lake, event_of(a="int"))


def test_a_change_that_iceberg_refuses_is_an_error(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create("t", ("a", _INT))

    def refuse(*_: Any, **__: Any) -> None:
        raise ValidationError("Cannot change column type")

    monkeypatch.setattr("pyiceberg.table.update.schema.UpdateSchema.update_column", refuse)
    with pytest.raises(OperationError, match=r"\.t cannot be changed: Cannot change column type"):
        _sync(lake, event_of(a="long"))


def test_a_missing_table_is_a_difference(lake: Lake) -> None:
    synced = _sync(lake, event_of(a="int"))

    assert [(each.found, each.advice[:20]) for each in synced.left] == [
        ("no table", "the job's first batc")
    ]


def test_many_tables_are_found_and_read_with_few_calls(lake: Lake) -> None:
    names = [f"t{at}" for at in range(3)]
    for name in names:
        table = lake.create(name, ("a", _INT), own=False)
        table.append(pa.table({"a": pa.array([1], pa.int32())}))
    clients = Clients()
    tables = tuple(map(lake.name, names))

    found = inspect_tables([TableTarget(event_of(a="int"), tables)], Limits(files=2), clients)

    assert found.calls == {"GetTables": 1, "GetObject": 3 * 3 + 2}
    assert (found.files, found.files_left) == (2, 1)


def test_a_change_is_planned_again_if_another_commit_came_first(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create("t", ("a", _INT))
    find, taken = Clients.find_tables, iter(["x", "y"])

    def find_and_lose(self: Clients, names: Any) -> Any:
        found = find(self, names)
        if name := next(taken, None):
            with lake.load("t").update_schema() as update:
                update.add_column(name, _INT)
        return found

    monkeypatch.setattr(Clients, "find_tables", find_and_lose)
    event = event_of(a="long", x="int", y="int")

    assert [each.column for each in _sync(lake, event).changes] == ["a", "a"]
    assert lake.columns("t") == {"a": "bigint", "x": "int", "y": "int"}


def test_a_commit_that_glue_rejects_is_made_again_until_the_time_is_over(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create("t", ("a", _INT))
    commit, left = GlueCatalog.commit_table, [2]

    def reject(*words: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise CommitFailedException("another commit came first")
        return commit(*words)

    monkeypatch.setattr(GlueCatalog, "commit_table", reject)
    assert _sync(lake, event_of(a="long")).applied

    left[0] = 1
    monkeypatch.setattr("penstock.extensions.drift.inspection.ATTEMPTS", Attempts(1, 1, 0))
    with pytest.raises(
        SinkUnavailableError, match=r"the columns of .*\.t could not be changed for 0 s: each time"
    ):
        _sync(lake, event_of(a="long", b="int"))


def test_a_version_of_another_account_is_a_column_by_the_policy_that_terraform_plans(
    lake: Lake, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create("orders")
    planned = yaml.safe_load(_PLANNED.read_text())[_SYNC]
    moved = {
        _BUCKET: lake.bucket,
        "111111111111": _PRODUCER,
        "222222222222": ACCOUNT,
        "eu-central-1": REGION,
        _DATABASE: lake.database,
    }

    def move(arn: str) -> str:
        for old, new in moved.items():
            arn = arn.replace(old, new)
        return arn

    may = [allow(each["may"], [move(arn) for arn in each["on"]]) for each in planned]
    sync = make_role(client("iam"), trust(ACCOUNT), *may)
    reads = allow(["glue:GetSchemaVersion", "glue:ListSchemaVersions"])
    iam, reader = client("iam", account=_PRODUCER), _READER.rpartition("/")[2]
    iam.create_role(RoleName=reader, AssumeRolePolicyDocument=trust(ACCOUNT))
    iam.put_role_policy(RoleName=reader, PolicyName="schemas", PolicyDocument=document(reads))
    glue = client("glue", account=_PRODUCER)
    glue.create_registry(RegistryName=lake.database)
    glue.create_schema(
        RegistryId={"RegistryName": lake.database},
        SchemaName="order",
        DataFormat="AVRO",
        Compatibility="NONE",
        SchemaDefinition=json.dumps(_record(note="string")),
    )
    taken = client("sts").assume_role(RoleArn=sync, RoleSessionName="sync")["Credentials"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", taken["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", taken["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", taken["SessionToken"])
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    # A process keeps its session; other tests of this one have used it with other credentials.
    monkeypatch.setattr("penstock.extensions.drift._clients.load_session", Session)
    url = f"glue://{lake.database}?region={REGION}&role_arn={_READER}"
    table = TableSettings(lake_table=lake.name("orders"))

    (synced,) = sync_lake(url, ["order"], table, apply=True)
    (again,) = sync_lake(url, ["order"], table, apply=True)

    assert (synced.applied, synced.left) == (True, ())
    assert lake.columns("orders") == {"note": "string"}
    assert (again.changes, again.left, again.applied) == ((), (), False)
