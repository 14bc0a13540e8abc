"""A registry, tables and outputs in an account of localcloud, for `penstock lineage`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.glue import GlueCatalog

from localcloud.cloud import Cloud
from penstock.cli import main
from penstock.tables import Marker
from systems.sessions import REGION
from tests.fixtures.accounts import PATIENCE, ActAs
from tests.fixtures.readings import make_reading_table
from tests.fixtures.root_outputs import make_consumer, make_producer, write_outputs

ACCOUNT = "666666666666"  # no other test uses it
REGISTRY = f"glue://penstock?region={REGION}"
ENVIRON = {"PENSTOCK_REGISTRY": REGISTRY, "PENSTOCK_WORKGROUP": "penstock"}
NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
_FIELDS = [
    {"name": "deviceId", "type": "string"},
    {"name": "timestamp", "type": "string"},
    {"name": "temperature", "type": ["null", "int"], "default": None},
    {"name": "room", "jsonName": "Room-No", "type": ["null", "string"], "default": None},
    {"name": "humidity", "type": ["null", "double"], "default": None},
]
VERSIONS = [
    {"type": "record", "name": "acme.Sensor", "fields": _FIELDS[:count]} for count in (3, 4, 5)
]
_OWN = [
    ("_event_time", pa.timestamp("us", tz="UTC")),
    ("_topic", pa.string()),
    ("_kafka_partition", pa.int32()),
    ("_offset", pa.int64()),
    ("_kafka_timestamp", pa.timestamp("us", tz="UTC")),
    ("_schema_id", pa.string()),
    ("_schema_version", pa.int32()),
]
_COLUMNS = [
    pa.field("deviceId", pa.string()),
    pa.field("timestamp", pa.string()),
    pa.field("temperature", pa.int32()),
    pa.field("Room_No", pa.string(), metadata={"doc": 'field "Room-No"'}),
]


class World:
    """What the tests change: `client` opens clients of the account."""

    def __init__(self, client: Callable[[str], Any], endpoint: str) -> None:
        self.client = client
        self.keys: list[str] = []
        self._endpoint = endpoint

    def register(self, definition: dict[str, Any]) -> None:
        """Register a version of the schema sensor."""
        glue, text = self.client("glue"), json.dumps(definition)
        schema = {"RegistryName": "penstock", "SchemaName": "sensor"}
        if self.keys:
            found = glue.register_schema_version(SchemaId=schema, SchemaDefinition=text)
        else:
            found = glue.create_schema(
                RegistryId={"RegistryName": "penstock"},
                SchemaName="sensor",
                DataFormat="AVRO",
                Compatibility="BACKWARD",
                SchemaDefinition=text,
            )
        self.keys.append(found["SchemaVersionId"])

    def load_catalog(self) -> GlueCatalog:
        """Return the catalog with the table of readings."""
        return GlueCatalog(
            "lake",
            client=self.client("glue"),
            **{
                "warehouse": "s3://lineage-lake/warehouse",
                "s3.endpoint": self._endpoint,
                "s3.region": REGION,
                "s3.access-key-id": ACCOUNT,
                "s3.secret-access-key": "any",
            },
        )

    def append(self, versions: list[int], batch: int | None, *fields: pa.Field) -> None:
        """Append a row of each of these versions; without a batch, no job of Penstock did."""
        columns = pa.schema([pa.field(*each) for each in _OWN] + _COLUMNS + list(fields))
        rows = [
            {
                "_event_time": NOON,
                "_topic": "sensor",
                "_kafka_partition": 0,
                "_offset": at,
                "_kafka_timestamp": NOON,
                "_schema_id": self.keys[number - 1],
                "_schema_version": number,
                "deviceId": "d",
            }
            for at, number in enumerate(versions)
        ]
        data = pa.Table.from_pylist(rows, columns)
        catalog = self.load_catalog()
        table = catalog.create_table_if_not_exists("lake.readings", columns)
        with table.update_schema() as update:
            update.union_by_name(columns)
        marker = {} if batch is None else Marker("query", batch, 0).to_summary()
        catalog.load_table("lake.readings").append(data, snapshot_properties=marker)

    def put_row(self, number: int, **fields: Any) -> None:
        """Put a row of a version into DynamoDB."""
        own = {"_topic": "sensor", "_schemaId": self.keys[number - 1], "_schema": str(number)}
        row = {"deviceId": "d", "readingId": secrets.token_hex(8), "timestamp": "t", **own}
        self.client("dynamodb").put_item(
            TableName="p-readings",
            Item={name: {"S": value} for name, value in {**row, **fields}.items()},
        )


def make_outputs(folder: Path) -> None:
    """Write the outputs of both roots: one topic, and a consumer that is only in the contracts."""
    consumer = make_consumer(jobs=("consume",))
    consumer["platform"] |= {"account_id": ACCOUNT, "region": REGION}
    consumer["platform"]["brokers"] = {"topics": ["sensor"]}
    consumer["clients"] = {"report": {"reads": ["sensor"]}}
    producer = make_producer()
    producer["contracts"] = {"analytics": {"topics": ["sensor"]}, "audit": {"topics": ["sensor"]}}
    producer["contracts"]["analytics"]["programs"] = {
        "jobs": {"usernames": ["j-1", "j-2"], "topics": ["sensor"], "writes": []},
        "clients": {"usernames": ["c-1"], "topics": ["sensor"], "writes": ["sensor"]},
    }
    brokers = {"KAFKA_BOOTSTRAP_SERVERS": "b-1.example:9098,b-2.example:9098"}
    producer["profiles"] = {"sensors": producer["profiles"]["sensors"] | brokers}
    write_outputs(folder / "consumer.json", consumer)
    write_outputs(folder / "producer.json", producer)


@pytest.fixture
def world(
    cloud: Cloud,
    client: Callable[..., Any],
    act_as: ActAs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    """Three versions, rows of two of them, and a column that another program added."""
    act_as(ACCOUNT)
    monkeypatch.setattr("penstock.operations.database._ATTEMPTS", PATIENCE)
    monkeypatch.chdir(tmp_path)

    def open_client(service: str) -> Any:
        return client(service, ACCOUNT)

    glue, s3, dynamodb = map(open_client, ("glue", "s3", "dynamodb"))
    where = {"LocationConstraint": REGION}
    s3.create_bucket(Bucket="lineage-lake", CreateBucketConfiguration=where)
    glue.create_registry(RegistryName="penstock")
    glue.create_database(DatabaseInput={"Name": "lake"})
    make_reading_table(dynamodb, "p-readings")
    output = {"ResultConfiguration": {"OutputLocation": "s3://lineage-lake/results/"}}
    athena = open_client("athena")
    athena.create_work_group(Name="penstock", Configuration=output)
    made = World(open_client, cloud.endpoint)
    for version in VERSIONS:
        made.register(version)
    made.append([1, 1, 2], 1)
    made.append([2], None, pa.field("note", pa.string()))
    made.put_row(1)
    made.put_row(2, **{"Room-No": "12"})
    make_outputs(tmp_path)
    yield made
    athena.delete_work_group(WorkGroup="penstock", RecursiveDeleteOption=True)
    dynamodb.delete_table(TableName="p-readings")
    if glue.get_tables(DatabaseName="lake")["TableList"]:
        glue.delete_table(DatabaseName="lake", Name="readings")
    glue.delete_database(Name="lake")
    schema = {"RegistryName": "penstock", "SchemaName": "sensor"}
    glue.delete_schema(SchemaId=schema)
    glue.delete_registry(RegistryId={"RegistryName": "penstock"})
    listed: Any = s3.list_objects_v2(Bucket="lineage-lake").get("Contents", ())
    for each in listed:
        s3.delete_object(Bucket="lineage-lake", Key=each["Key"])
    s3.delete_bucket(Bucket="lineage-lake")


def run(*words: str) -> int:
    """Run `penstock` with the settings of the account."""
    return main(list(words), ENVIRON)
