"""Records of versions that evolve, and what must become of each: no code of Penstock has a part."""

from __future__ import annotations

import io
import json
import random
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

import fastavro
from kafka import KafkaProducer

# Events are ten minutes apart, and their time counts up to 30 days before Kafka's and one after.
_AGE_MS = 20 * 86_400_000  # of the first one
_STEP_MS = 600_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION = {
    "type": "record",
    "name": "Position",
    "fields": [{"name": "lat", "type": "double"}, {"name": "floor", "type": "int"}],
}
# What each version adds to the one before, or makes wider.
_STEPS: tuple[dict[str, Any], ...] = (
    {},
    {"temperature": "long"},
    {"place": "string"},
    {"temperature": "double"},
    {"tags": {"type": "array", "items": "string"}},
    {"position": _POSITION},
    {"raw": "bytes"},
    {"ok": "boolean"},
)
_MAKE: dict[str, Callable[[random.Random], Any]] = {
    "long": lambda rng: rng.randrange(-(2**53), 2**53 + 1),
    "double": lambda rng: rng.choice([rng.uniform(-1e9, 1e9), 0.1, -2.5e-7]),
    "string": lambda rng: rng.choice(["", "Depot", "Öl \U0001f6e2 'x'"]) + str(rng.random()),
    "array": lambda rng: [str(rng.random()) for _ in range(rng.randrange(3))],
    "record": lambda rng: {"lat": rng.uniform(-90, 90), "floor": rng.randrange(-3, 99)},
    "bytes": lambda rng: rng.randbytes(rng.randrange(9)),
    "boolean": lambda rng: rng.random() < 0.5,
}
_VERSIONS = 24

Place = tuple[int, int]  # partition and offset


@dataclass(frozen=True)
class _Version:
    id: str
    number: int
    types: dict[str, Any]
    avro: Any

    def make(self, rng: random.Random) -> dict[str, Any]:
        """Make an event; one field in five is null."""
        kinds = {name: t if isinstance(t, str) else t["type"] for name, t in self.types.items()}
        return {
            name: None if rng.random() < 0.2 else _MAKE[kind](rng) for name, kind in kinds.items()
        }

    def write(self, event: dict[str, Any]) -> bytes:
        """Write an event as Avro does."""
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, self.avro, event)
        return buffer.getvalue()


def _schema(types: dict[str, Any]) -> dict[str, Any]:
    base = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}]
    more = [{"name": n, "type": ["null", t], "default": None} for n, t in types.items()]
    return {"type": "record", "name": "Reading", "fields": base + more}


def _frame(version_id: str, payload: bytes, *, compressed: bool = False) -> bytes:
    body = zlib.compress(payload) if compressed else payload
    return bytes([3, 5 if compressed else 0]) + UUID(version_id).bytes + body


@dataclass
class Topic:
    """A topic of two partitions, and by the records' places what the three tables must hold."""

    name: str
    rng: random.Random
    glue: Any
    registry: str
    open_producer: Callable[[], KafkaProducer]
    rows: dict[Place, dict[str, Any]] = field(default_factory=dict)
    items: dict[Place, dict[str, Any]] = field(default_factory=dict)
    errors: dict[Place, tuple[str, bytes]] = field(default_factory=dict)
    _versions: list[_Version] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=lambda: [0, 0])
    _now_ms: int = field(default_factory=lambda: int(time.time() * 1_000))
    _count: int = 0
    _sends: int = 0

    def expected(self) -> dict[str, dict[Place, Any]]:
        """Give what the three tables must hold, by the records' places."""
        columns = dict.fromkeys(["deviceId", "timestamp", *self._versions[-1].types])
        lake = {place: columns | row for place, row in self.rows.items()}
        return {"lake": lake, "readings": self.items, "errors": self.errors}

    def evolve(self) -> None:
        """Register the next version, where there is one left."""
        if (number := len(self._versions)) < _VERSIONS:
            step = _STEPS[number] if number < len(_STEPS) else {f"n{number}": "long"}
            types = (self._versions[-1].types if self._versions else {}) | step
            self._versions.append(self._register(self.name, _schema(types), types))

    @cached_property
    def _other(self) -> _Version:
        """Register a version that cannot be in one table with the others."""
        types = {"timestamp": "string"}
        fields = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "string"}]
        schema = {"type": "record", "name": "Reading", "fields": fields}
        return self._register(f"{self.name}-other", schema, types)

    def _register(self, name: str, schema: dict[str, Any], types: dict[str, Any]) -> _Version:
        text = json.dumps(schema)
        registry = {"RegistryName": self.registry}
        found = {
            each["SchemaName"] for each in self.glue.list_schemas(RegistryId=registry)["Schemas"]
        }
        if name in found:
            made = self.glue.register_schema_version(
                SchemaId=registry | {"SchemaName": name}, SchemaDefinition=text
            )
            number = made["VersionNumber"]
        else:
            made = self.glue.create_schema(
                RegistryId=registry, SchemaName=name, DataFormat="AVRO",
                Compatibility="BACKWARD", SchemaDefinition=text,
            )  # fmt: skip
            number = made["LatestSchemaVersion"]
        return _Version(made["SchemaVersionId"], number, types, fastavro.parse_schema(schema))

    def send(self, count: int) -> None:
        """Send records of any versions; each third time many are compressed or no good."""
        self._sends += 1
        with closing(self.open_producer()) as producer:
            sent = [self._send_one(producer) for _ in range(count)]
            for place, future in sent:
                found = future.get(60)
                assert (found.partition, found.offset) == place

    def _send_one(self, producer: KafkaProducer) -> tuple[Place, Any]:
        partition = self.rng.randrange(2)
        place = (partition, self._offsets[partition])
        self._offsets[partition] += 1
        value, stamp = self._make(place), self._now_ms - self.rng.randrange(3_600_000)
        if place in self.rows:
            self.rows[place]["_kafka_timestamp"] = _moment(stamp)
        future = producer.send(
            self.name, value=value, key=b"k", partition=partition, timestamp_ms=stamp
        )
        return place, future

    def _make(self, place: Place) -> bytes | None:
        kind = self.rng.randrange(16) if self._sends % 3 == 2 else 16
        # The newest as often as all others.
        version = self.rng.choice([self._versions[-1], self.rng.choice(self._versions)])
        base = {"deviceId": f"d{self.rng.randrange(5)}", "timestamp": self._tick()}
        event = {**base, **version.make(self.rng)}
        payload = version.write(event)
        if kind == 0:
            return None
        if kind == 1:
            return self._refuse(place, "unknown-framing", b"?" + payload)
        if kind == 2:
            return self._refuse(place, "truncated", _frame(version.id, payload)[:-1])
        if kind == 3:
            unknown = str(UUID(int=self.rng.getrandbits(128), version=4))
            return self._refuse(place, "unknown-schema", _frame(unknown, payload))
        if kind == 4 and len(self._versions) > 1:  # the first version that comes is never refused
            payload = self._other.write(base | {"timestamp": "now"})
            return self._refuse(place, "schema-conflict", _frame(self._other.id, payload))
        self._expect(place, event, version)
        return _frame(version.id, payload, compressed=kind < 8)

    def _tick(self) -> int:
        self._count += 1
        return self._now_ms - _AGE_MS + _STEP_MS * self._count

    def _refuse(self, place: Place, reason: str, value: bytes) -> bytes:
        self.errors[place] = (reason, value)
        return value

    def _expect(self, place: Place, event: dict[str, Any], version: _Version) -> None:
        partition, offset = place
        self.rows[place] = {
            **event,
            "_topic": self.name,
            "_schema_id": version.id,
            "_schema_version": version.number,
            "_event_time": _moment(event["timestamp"]),
        }
        told = {name: _to_item(value) for name, value in event.items() if value is not None}
        self.items[place] = {
            **told,
            "readingId": f"{event['timestamp']:013d}-{self.name}-{partition}-{offset}",
            "_topic": self.name,
            "_source": f"{self.name}/{partition}/{offset}",
            "_schema": version.number,
            "_schemaId": version.id,
        }


def _moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _to_item(value: Any) -> Any:
    """Give a value as boto3 gives back what a table holds."""
    if isinstance(value, dict):
        return {name: _to_item(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_to_item(each) for each in value]
    return Decimal(repr(value)) if isinstance(value, float) else value
