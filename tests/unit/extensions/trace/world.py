"""Tables and a registry of a consumer in localcloud, and topics in memory, for `penstock trace`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from pyiceberg.catalog.glue import GlueCatalog

from localcloud.cloud import Cloud
from penstock.cli._read import _make_json, _make_raw
from penstock.cli.values import format_json
from penstock.extensions.trace.operation import Places, Tracer
from penstock.extensions.trace.topic import FoundRecord
from penstock.framing import encode_glue_frame
from penstock.operations import ReadRecord, load_programs
from penstock.records import READING, FailedRecord, Record, Source, make_row
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import encode
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, open_table
from systems.error_tables import make_error_table
from systems.sessions import REGION
from tests.fixtures.accounts import PATIENCE, ActAs
from tests.fixtures.readings import make_reading_table
from tests.fixtures.root_outputs import make_consumer, write_outputs

ACCOUNT = "676767676767"  # no other test uses it
NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1_000)
EVENT = {"deviceId": "000001", "timestamp": "2026-11-26T11:59:59.500Z", "temperature": 30}
SCHEMA = {
    "type": "record",
    "name": "sensor",
    "fields": [
        {"name": "deviceId", "type": "string"},
        {"name": "timestamp", "type": "string"},
        {"name": "temperature", "type": ["null", "int"], "default": None},
    ],
}
_COLUMNS = pa.schema(
    [
        ("_event_time", pa.timestamp("us", tz="UTC")),
        ("_topic", pa.string()),
        ("_kafka_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_kafka_timestamp", pa.timestamp("us", tz="UTC")),
    ]
)


@dataclass
class MemoryTopics:
    """Records by place; `asked` are the places that were looked for."""

    records: list[Record] = field(default_factory=list)
    asked: list[Source] = field(default_factory=list)

    def find(self, source: Source) -> FoundRecord | None:
        """Return the record at a place."""
        self.asked.append(source)
        found = next((each for each in self.records if each.source == source), None)
        return found and FoundRecord(found)

    def find_newest(self, topic: str, key: str, last: int) -> FoundRecord | None:
        """Return the last record with a key."""
        found = [each for each in self.records if each.key == key.encode()]
        return FoundRecord(found[-1]) if found and last else None


@dataclass
class World:
    """The places of a consumer's account, which tests fill."""

    lake: str
    errors: str
    outputs: dict[str, Any]
    registry: MemoryRegistry
    topics: MemoryTopics
    endpoint: str
    folder: Path

    def tracer(self, **changes: Any) -> Tracer:
        """Return a tracer of these places, with some others in their stead."""
        programs = load_programs([write_outputs(self.folder / "consumer.json", self.outputs)])
        given = {
            "topics": self.topics,
            "registries": Registries([self.registry]),
            "programs": programs,
            "errors_tables": (self.errors,),
            "profile": "analytics",
        }
        return Tracer(Places(**(given | changes)))

    def write(self, offset: int, **changes: Any) -> Record:
        """Write an event to the topic."""
        version = self.registry.register("sensor", SCHEMA).version
        value = encode_glue_frame(version.key, encode(EVENT | changes, SCHEMA))
        record = Record(Source("sensor", 0, offset), b"000001", value, (("h", b"1"),), NOON_MS)
        self.topics.records.append(record)
        return record

    def put_row(self, record: Record) -> None:
        """Write the row of a record."""
        row = make_row(READING, EVENT, record, 1, "id")
        assert open_table(DynamoDbClient(), "p-readings", READING).write([row]) == {}

    def give_up(self, failed: FailedRecord) -> None:
        """Write a dead letter."""
        ErrorTable(DynamoDbClient(), self.errors, ObjectStore("none")).keep_rows([failed])

    def append(
        self, *offsets: int, event_time: datetime = NOON, written: datetime = NOON, copies: int = 1
    ) -> Any:
        """Append rows of these offsets in one snapshot, and return the table."""
        own = {"_event_time": event_time, "_kafka_timestamp": written}
        rows = [
            {**own, "_topic": "sensor", "_kafka_partition": 0, "_offset": each}
            for each in offsets * copies
        ]
        catalog = self.load_catalog()
        table = catalog.create_table_if_not_exists(f"{self.lake}.readings", _COLUMNS)
        table.append(pa.Table.from_pylist(rows, _COLUMNS))
        return catalog.load_table(f"{self.lake}.readings")

    def load_catalog(self) -> GlueCatalog:
        """Return the catalog of the lake."""
        return GlueCatalog(
            "lake",
            client=boto3.Session(region_name=REGION).client("glue"),
            **{
                "warehouse": f"s3://{self.lake.replace('_', '-')}/warehouse",
                "s3.endpoint": self.endpoint,
                "s3.region": REGION,
                "s3.access-key-id": ACCOUNT,
                "s3.secret-access-key": "any",
            },
        )


@pytest.fixture
def world(
    cloud: Cloud,
    client: Callable[..., Any],
    act_as: ActAs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    """A consumer with a job that writes a table of rows and one of the lake, both empty."""
    act_as(ACCOUNT)
    monkeypatch.setattr("penstock.operations.database._ATTEMPTS", PATIENCE)
    database = f"lake_{secrets.token_hex(4)}"
    where = {"LocationConstraint": REGION}
    client("s3", ACCOUNT).create_bucket(
        Bucket=database.replace("_", "-"), CreateBucketConfiguration=where
    )
    client("glue", ACCOUNT).create_database(DatabaseInput={"Name": database})
    dynamodb = boto3.Session(region_name=REGION).resource("dynamodb")
    readings = make_reading_table(dynamodb, "p-readings")
    errors = make_error_table(dynamodb, f"p-{secrets.token_hex(4)}-errors")
    outputs = json.loads(
        json.dumps(make_consumer(jobs=("consume",))).replace(
            "lake.readings", f"{database}.readings"
        )
    )
    yield World(
        database, errors.name, outputs, MemoryRegistry(), MemoryTopics(), cloud.endpoint, tmp_path
    )
    readings.delete()
    errors.delete()


def write_line(found: ReadRecord) -> str:
    """Return the line that `penstock read --raw` prints for a record."""
    return f"{format_json(_make_json(found) | _make_raw(found))}\n"
