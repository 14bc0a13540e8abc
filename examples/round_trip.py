"""The core of Penstock on one screen: events, schema versions, a real Kafka broker, events.

    .venv/bin/python examples/round_trip.py '{}' '{"temperature": 30}' '{}'

Each argument is one JSON event of one sensor. The program infers and registers its schema (in
memory, under Glue's rules) and sends the record through a real Kafka broker on a loopback address.
Then it reads every record back through the merge of all schema versions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localcloud.brokers import BrokerCluster, ClusterSpec, choose_network, prepare_brokers
from localcloud.network import resolve_names
from penstock.errors import PenstockError
from penstock.framing import decode_frame, encode_frame
from penstock.kafka import (
    KafkaSettings,
    Producer,
    Security,
    Topic,
    ensure_topic,
    open_consumer,
    open_producer,
)
from penstock.records import READING, base_fields
from penstock.registry import CachedRegistry, SchemaRegistry, load_registry
from penstock.schemas import (
    Policy,
    VersionSet,
    decode_event,
    diff_schemas,
    encode,
    infer_schema,
    merge_schemas,
    parse_event,
    to_record,
)

_NAME = "sensor"
_DEVICE = "000001"
_VERSION_BUDGET = 100


def main(texts: Sequence[str]) -> int:
    """Send the events, read them back, and return 1 if an event was refused."""
    registry = CachedRegistry(load_registry("memory://"))
    with _broker() as settings:
        ensure_topic(settings, Topic(_NAME, partitions=1))
        with open_producer(settings) as producer:
            refused = [text for text in texts if not _try_send(producer, registry, text)]
        print()
        for event in _read(settings, registry, len(texts) - len(refused)):
            print(event)
    return 1 if refused else 0


def _try_send(producer: Producer, registry: SchemaRegistry, text: str) -> bool:
    try:
        print(f"{text:24} -> {_send(producer, registry, text)}")
    except PenstockError as error:
        print(f"{text:24} -> refused: {error}")
        return False
    return True


def _send(producer: Producer, registry: SchemaRegistry, text: str) -> str:
    """Send one event; return its schema version and offset in words."""
    event = parse_event(text)
    versions = VersionSet([version.schema for version in registry.versions(_NAME)])
    inferred = infer_schema(event, _NAME, versions.merged, base_fields(READING))
    schema = versions.choose(inferred, Policy.EXACT, _VERSION_BUDGET)
    registration = registry.register(_NAME, schema)
    own = {"deviceId": _DEVICE, "timestamp": time.time_ns() // 1_000_000}
    payload = encode(to_record(event, schema, own), schema)
    frame = encode_frame(registration.version.key, payload)
    delivery = producer.send(_NAME, frame, key=_DEVICE.encode())
    said = f"version {registration.version.number}, offset {delivery.offset}"
    if registration.created and registration.previous:
        said += f", new: {diff_schemas(registration.previous.schema, schema)}"
    return said


def _read(settings: KafkaSettings, registry: SchemaRegistry, count: int) -> list[dict[str, Any]]:
    """Return all events, read with their writer schemas into the merge of all versions."""
    events: list[dict[str, Any]] = []
    with open_consumer(settings, _NAME) as consumer:
        while len(events) < count:
            for record in consumer.poll():
                frame = decode_frame(record.value)
                version = registry.get(frame.key)
                reader = merge_schemas(each.schema for each in registry.versions(version.name))
                event = decode_event(frame.payload, version.schema, reader)
                events.append({**event, "_schema": version.number})
    return events


@contextmanager
def _broker() -> Iterator[KafkaSettings]:
    """Run one broker that accepts everybody, until the context ends."""
    spec = ClusterSpec(
        network=choose_network(),
        broker_count=1,
        plaintext=True,
        properties={"allow.everyone.if.no.acl.found": "true"},
    )
    jvm = prepare_brokers()
    with (
        tempfile.TemporaryDirectory() as folder,
        BrokerCluster(Path(folder), spec, jvm=jvm) as cluster,
        resolve_names(cluster.names),
    ):
        servers = cluster.bootstrap_servers("PLAINTEXT").split(",")
        yield KafkaSettings(tuple(servers), Security.PLAINTEXT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
