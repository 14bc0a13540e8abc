"""The platform reads from localcloud's memory what a call of the API would return."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import Binary
from moto import mock_aws

from campaign.platform import Platform, _list_rows
from campaign.readers import read_letters
from localcloud.services.glue.registry.state import GlueRegistries, Registry, Schema
from systems.killing import REGION
from systems.tables import make_table

_MOTO = "123456789012"  # its account
_VALUES = {
    "whole": 2**70,
    "fraction": Decimal("0.5"),
    "nothing": None,
    "list": ["a", {"lat": Decimal("1.5")}],
    "map": {"floor": 3, "tags": ["b"], "raw": b"\3\0"},
    "reason": "truncated",
    "value": b"\3\0junk",
}


@pytest.mark.parametrize("sort", [[], ["part"]])
def test_rows_are_those_of_a_scan(sort: list[str]) -> None:
    with mock_aws():
        session = boto3.Session("any", "any", region_name=REGION)
        table = make_table(session.resource("dynamodb"), "letters", "id", *sort)
        for number in range(6):
            key = {"id": f"sensor/0/{number // 2 if sort else number}/x", "part": f"{number % 2}"}
            table.put_item(Item={**_VALUES, **key, "number": number})

        rows = sorted(_list_rows(_MOTO, "letters"), key=_number)

        assert rows == sorted(table.scan()["Items"], key=_number)
        assert len(rows) == 6
        assert rows[0]["value"] == Binary(_VALUES["value"])
        assert read_letters(rows)[0].value == _VALUES["value"]


def _number(row: Any) -> int:
    return int(row["number"])


def _name_fields(*names: str, kind: str = "long", default: Any = 0) -> str:
    fields = [{"name": name, "type": kind, "default": default} for name in names]
    return json.dumps({"type": "record", "name": "sensor", "fields": fields})


def test_versions_with_a_field_are_those_that_were_accepted() -> None:
    kept = GlueRegistries()
    for name in ("own", "another"):
        registry = Registry(name, name, None, {})
        schema = Schema("sensor", f"{name}/sensor", None, {}, registry=registry, data_format="AVRO")
        kept.schemas[schema.arn] = schema
        kept.store.create(schema.arn, _name_fields("f0"))
    kept.store.add("own/sensor", _name_fields("f0", "f1"))
    kept.store.add("own/sensor", _name_fields("f0", "f1", "f2"))
    # Refused: f0 was a number.
    kept.store.add("own/sensor", _name_fields("f0", "f1", "f2", "f3", kind="string", default=""))
    kept.store.add("another/sensor", _name_fields("f0", "f4"))
    cloud = SimpleNamespace(state=lambda kind, *_: kept if kind is GlueRegistries else None)
    platform: Any = SimpleNamespace(cloud=cloud, world=SimpleNamespace(name="own"))

    counts = [Platform.count_versions(platform, f"f{number}") for number in range(5)]

    assert counts == [3, 2, 1, 0, 0]


_COMPACTED = {"operation": "replace", "deleted-data-files": "5"}


@pytest.mark.parametrize("name", ["2.metadata.json", "2.gz.metadata.json"])
@pytest.mark.parametrize(
    ("summaries", "count"),
    [
        ([], 0),
        ([{"operation": "append"}, _COMPACTED, _COMPACTED], 2),
        ([{"operation": "replace", "manifests-replaced": "3"}], 0),
        ([{"operation": "overwrite", "deleted-data-files": "1"}], 0),  # a column became wider
    ],
    ids=["none", "two", "manifests alone", "an update"],
)
def test_compactions_are_commits_that_replace_data_files(
    monkeypatch: pytest.MonkeyPatch, name: str, summaries: list[dict[str, str]], count: int
) -> None:
    monkeypatch.setattr("campaign.platform.ACCOUNT", _MOTO)
    with mock_aws():
        session = boto3.Session("any", "any", region_name=REGION)
        s3, glue = session.client("s3"), session.client("glue")
        s3.create_bucket(Bucket="lake", CreateBucketConfiguration={"LocationConstraint": REGION})
        metadata = json.dumps({"snapshots": [{"summary": each} for each in summaries]}).encode()
        body = gzip.compress(metadata) if ".gz." in name else metadata
        s3.put_object(Bucket="lake", Key=f"t/metadata/{name}", Body=body)
        glue.create_database(DatabaseInput={"Name": "d"})
        place = {"metadata_location": f"s3://lake/t/metadata/{name}"}
        glue.create_table(DatabaseName="d", TableInput={"Name": "t", "Parameters": place})
        arguments = {"--lake-table": "d.t"}
        platform: Any = SimpleNamespace(world=SimpleNamespace(arguments=arguments))

        assert Platform.count_compactions(platform) == count
