"""One event into Kafka, under a schema that every reader can find."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from penstock.framing import encode_glue_frame
from penstock.kafka import Delivery, Producer, Topic, ensure_topic
from penstock.producing.settings import ProducerSettings
from penstock.registry import CachedRegistry, Registration, SchemaRegistry, load_registry
from penstock.schemas import (
    BASE_FIELDS,
    choose_schema,
    diff_schemas,
    encode,
    infer_schema,
    merge_schemas,
    parse_event,
    to_record,
)


@dataclass(frozen=True, slots=True)
class Produced:
    """Where an event went, and under which version of its schema."""

    delivery: Delivery
    registration: Registration

    def describe(self) -> dict[str, Any]:
        """Say it in plain values; a version that is new comes with what is new in it."""
        version, previous = self.registration.version, self.registration.previous
        schema: dict[str, Any] = {
            "name": version.name,
            "version": version.number,
            "id": version.id,
            "created": self.registration.created,
        }
        if self.registration.created and previous is not None:
            schema["diff"] = str(diff_schemas(previous.schema, version.schema)).splitlines()
        return {
            "topic": self.delivery.topic,
            "partition": self.delivery.partition,
            "offset": self.delivery.offset,
            "schema": schema,
        }


class EventProducer:
    """The events of a device to a topic; for one thread."""

    def __init__(
        self, settings: ProducerSettings, registry: SchemaRegistry, producer: Producer
    ) -> None:
        """Keep what to write with; nothing is called yet."""
        self._settings = settings
        self._registry = registry
        self._producer = producer
        self._has_topic = False
        self._last_timestamp = 0

    def produce(self, event: Any) -> Produced:
        """Write one event and wait until it is safe; registers its schema when that is new.

        Raises:
            EventError: it is no event, or holds what no schema can carry.
            SchemaConflictError, VersionBudgetError, IncompatibleSchemaError: it needs a schema
                that may not be; nothing is written.
            RegistryError, BrokerError: the registry or Kafka does not take it.
        """
        event = parse_event(json.dumps(event))
        registration = self._register(event)
        version = registration.version
        own = {"deviceId": self._settings.device_id, "timestamp": self._next_timestamp()}
        record = to_record(event, version.schema, own)
        payload = encode(record, version.schema)
        frame = encode_glue_frame(version.id, payload, compress="if-smaller")
        self._ensure_topic()
        key = record["deviceId"].encode()
        return Produced(self._producer.send(self._settings.topic, frame, key=key), registration)

    def _register(self, event: dict[str, Any]) -> Registration:
        name = self._settings.schema_name
        versions = [version.schema for version in self._registry.versions(name)]
        known = merge_schemas(versions) if versions else None
        inferred = infer_schema(event, name, known, BASE_FIELDS)
        policy, budget = self._settings.policy, self._settings.version_budget
        return self._registry.register(name, choose_schema(inferred, versions, policy, budget))

    def _next_timestamp(self) -> int:
        """Tell the time in milliseconds, and never the same twice."""
        now = time.time_ns() // 1_000_000
        self._last_timestamp = max(now, self._last_timestamp + 1)
        return self._last_timestamp

    def _ensure_topic(self) -> None:
        if not self._has_topic:
            ensure_topic(self._settings.kafka, Topic(self._settings.topic))
            self._has_topic = True


def build_event_producer(settings: ProducerSettings, deadline_seconds: float) -> EventProducer:
    """Build a producer of one topic; nothing is called yet. The deadline is for each record."""
    return EventProducer(
        settings,
        CachedRegistry(load_registry(settings.registry)),
        Producer(settings.kafka, deadline_seconds),
    )
