"""From Kafka's records to the events of a function: exactly AWS's shape, within 6 MB."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kafka import TopicPartition

from localcloud.poller.patterns import matches

MAX_EVENT_BYTES = 6 * 1024 * 1024
_ENVELOPE_BYTES = 400  # an event without its records and the names of its servers
_TIMESTAMP_TYPES = ("CREATE_TIME", "LOG_APPEND_TIME")

Place: TypeAlias = TopicPartition


@dataclass(frozen=True, slots=True)
class Item:
    """A record as a part of an event; `text` is its JSON."""

    place: Place
    offset: int
    timestamp_ms: int
    text: str = field(repr=False)

    @property
    def size(self) -> int:
        """The size that it adds to an event; the text is ASCII."""
        return len(self.text) + 1


def place_of(record: Any) -> Place:
    """Return the partition of a record."""
    return TopicPartition(record.topic, record.partition)


def make_item(record: Any) -> Item:
    """Return a record as AWS writes it: a null key or value (a tombstone) is left out."""
    fields = _describe_place(record)
    for name, content in (("key", record.key), ("value", record.value)):
        if content is not None:
            fields[name] = base64.b64encode(content).decode()
    fields["headers"] = [{name: _signed(content or b"")} for name, content in record.headers]
    text = json.dumps(fields, separators=(",", ":"))
    return Item(place_of(record), record.offset, record.timestamp, text)


def make_event(servers: Sequence[str], items: Sequence[Item]) -> bytes:
    """Return one event of records, grouped by partition."""
    by_partition: dict[str, list[str]] = {}
    for item in items:
        name = f"{item.place.topic}-{item.place.partition}"
        by_partition.setdefault(name, []).append(item.text)
    records = ",".join(
        f"{json.dumps(name)}:[{','.join(texts)}]" for name, texts in by_partition.items()
    )
    return (
        f'{{"eventSource":"SelfManagedKafka","bootstrapServers":{json.dumps(",".join(servers))},'
        f'"records":{{{records}}}}}'
    ).encode()


def split_by_size(servers: Sequence[str], items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """Yield runs of items that fit into one event; an item that is too large is its own run."""
    base = size = _ENVELOPE_BYTES + len(",".join(servers))
    run: list[Item] = []
    seen: set[Place] = set()
    for item in items:
        added = item.size + (0 if item.place in seen else len(item.place.topic) + 20)
        if run and size + added > MAX_EVENT_BYTES:
            yield tuple(run)
            run, size, seen = [], base, set()
        run.append(item)
        seen.add(item.place)
        size += added
    if run:
        yield tuple(run)


def is_wanted(record: Any, patterns: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a pattern matches the record; key and value are parsed as JSON if possible."""
    if not patterns:
        return True
    seen = _describe_place(record)
    for name, content in (("key", record.key), ("value", record.value)):
        if content is not None:
            seen[name] = _read_json(content)
    return any(matches(pattern, seen) for pattern in patterns)


def _describe_place(record: Any) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestampType": _TIMESTAMP_TYPES[record.timestamp_type],
    }


def _read_json(content: bytes) -> Any:
    text = content.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _signed(content: bytes) -> list[int]:
    """Return bytes as Java's: -128 to 127."""
    return [byte - 256 if byte > 127 else byte for byte in content]
