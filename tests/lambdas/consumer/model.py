"""What a topic holds and what must become of it, worked out without a line of product code."""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

import fastavro

from systems.trials import Trials

Row = dict[str, Any]

_START = 1_795_234_000_000
_BASE = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}]


def _optional(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}


_INNER = {"type": "record", "name": "place", "fields": [_optional("floor", "long")]}
# Each version of the schema, as its fields besides the two that all have.
VERSIONS: list[list[dict[str, Any]]] = [
    [],
    [_optional("count", "long")],
    [_optional("count", "long"), _optional("temperature", "double")],
    [
        _optional("on", "boolean"),
        _optional("place", _INNER),
        _optional("tags", {"type": "array", "items": ["null", "string"]}),
        _optional("temperature", "double"),
    ],
]


def definition(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a version."""
    return {"type": "record", "name": "sensor", "fields": [*_BASE, *fields]}


def register(glue: Any, registry: str) -> list[str]:
    """Make the registry with all versions; returns their ids."""
    glue.create_registry(RegistryName=registry)
    glue.create_schema(
        RegistryId={"RegistryName": registry},
        SchemaName="sensor",
        DataFormat="AVRO",
        Compatibility="NONE",
        SchemaDefinition=json.dumps(definition(VERSIONS[0])),
    )
    return [
        glue.register_schema_version(
            SchemaId={"RegistryName": registry, "SchemaName": "sensor"},
            SchemaDefinition=json.dumps(definition(fields)),
        )["SchemaVersionId"]
        for fields in VERSIONS
    ]


@dataclass
class Model:
    """All records that were written, and the rows they must become."""

    topic: str
    version_ids: list[str]
    random: random.Random
    readings: dict[tuple[str, str], Row] = field(default_factory=dict)
    errors: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    _offsets: dict[int, int] = field(default_factory=dict)
    _written: int = 0

    def good(self, partition: int = 0, version: int | None = None) -> bytes:
        """The value of the next record: an event of some version."""
        version = self.random.randrange(len(VERSIONS)) if version is None else version
        offset = self._next_offset(partition)
        self._written += 1
        event = {
            "deviceId": f"d-{self._written % 3}",
            "timestamp": _START + self._written // 2,  # two of a time
            **{each["name"]: self._choose(each["name"]) for each in VERSIONS[version]},
        }
        reading = f"{event['timestamp']:013d}-{self.topic}-{partition}-{offset}"
        self.readings[event["deviceId"], reading] = {
            **{name: _stored(value) for name, value in event.items() if value is not None},
            "readingId": reading,
            "_topic": self.topic,
            "_source": f"{self.topic}/{partition}/{offset}",
            "_schema": Decimal(version + 1),
            "_schemaId": self.version_ids[version],
        }
        payload = io.BytesIO()
        schema = fastavro.parse_schema(definition(VERSIONS[version]))
        fastavro.schemaless_writer(payload, schema, event)
        return b"\x03\x00" + UUID(self.version_ids[version]).bytes + payload.getvalue()

    def bad(self, partition: int = 0, value: bytes | None = None) -> bytes:
        """The value of the next record: one that never can be a reading."""
        offset = self._next_offset(partition)
        head = b"\x03\x00" + UUID(self.version_ids[0]).bytes
        unknown = UUID(int=self.random.getrandbits(128), version=4)
        reason, made = self.random.choice(
            [
                ("unknown-framing", b"junk"),
                ("truncated", head + b"\x08d"),
                ("trailing-bytes", head + b"\x02d\x02!"),
                ("invalid-text", head + b"\x02\xff\x02"),
                ("unknown-schema", b"\x03\x00" + unknown.bytes),
                ("no-registry-for-framing", b"\x00\x00\x00\x00\x07x"),
                ("unroutable", head + b"\x00\x02"),
            ]
        )
        if value is not None:
            reason, made = "unknown-framing", value
        self.errors[f"{self.topic}/{partition}/{offset}"] = (reason, made)
        return made

    def some(self, count: int, partition: int = 0, *, poison: float = 0.1) -> list[bytes]:
        """The values of the next records, a part of them bad."""
        return [
            self.bad(partition) if self.random.random() < poison else self.good(partition)
            for _ in range(count)
        ]

    def event(self, partitions: dict[int, Iterable[bytes]]) -> dict[str, Any]:
        """The mapping's event with the values that each partition begins with."""
        return {
            "eventSource": "SelfManagedKafka",
            "records": {
                f"{self.topic}-{partition}": [
                    self.record(value, partition, offset) for offset, value in enumerate(values)
                ]
                for partition, values in partitions.items()
            },
        }

    def record(self, value: bytes, partition: int, offset: int) -> dict[str, Any]:
        """A record as the mapping hands it over."""
        return {
            "topic": self.topic,
            "partition": partition,
            "offset": offset,
            "timestamp": _START,
            "timestampType": "CREATE_TIME",
            "key": "aw==",
            "value": base64.b64encode(value).decode(),
            "headers": [],
        }

    def compare(
        self, readings: Iterable[Row], errors: Iterable[Row], trials: Trials | None = None
    ) -> None:
        """Demand that the tables hold exactly what they must, where trials are counted, too."""
        check = (trials or Trials("")).check
        found = [((row["deviceId"], row["readingId"]), row) for row in readings]
        given_up = []
        for row in errors:
            source, _, time = row["id"].rpartition("/")
            assert time == str(row["kafkaTimestamp"])
            given_up.append((source, (row["reason"], row["value"].value)))
        check(found, self.readings)
        check(given_up, self.errors)

    def _next_offset(self, partition: int) -> int:
        self._offsets[partition] = self._offsets.get(partition, -1) + 1
        return self._offsets[partition]

    def _choose(self, name: str) -> Any:
        choose = self.random.choice
        return {
            "count": choose([None, 0, -1, 2**53 + 1, 2**63 - 1]),
            "temperature": choose([None, 0.1, 30.0, -1e-9, 1e22]),
            "on": choose([None, True, False]),
            "place": choose([None, {"floor": 3}]),
            "tags": choose([None, [], ["é", '"', "😀"]]),
        }[name]


def _stored(value: Any) -> Any:
    """A value as DynamoDB gives it back."""
    if isinstance(value, dict):
        return {name: _stored(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_stored(each) for each in value]
    if isinstance(value, bool | str):
        return value
    return Decimal(repr(value))
