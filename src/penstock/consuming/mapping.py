"""The event and the response of a Kafka event source mapping.

    {"eventSource": "SelfManagedKafka", "bootstrapServers": "...", "records": {
        "sensor-0": [{"topic": "sensor", "partition": 0, "offset": 15, "timestamp": 1795234015788,
                      "timestampType": "CREATE_TIME", "key": BASE64, "value": BASE64,
                      "headers": [{"name": [97, 98]}]}]}}

The keys under `records` name the partition, and a batch may have any number of partitions. With
ReportBatchItemFailures, the response says from which offset to deliver a partition again:

    {"batchItemFailures": [{"itemIdentifier": {"partition": "sensor-0", "offset": 15}}]}

An entry without a topic, partition or offset fails the batch. An entry whose other members cannot
be read becomes a record whose value is the entry's JSON, which is no frame: a dead letter.
"""

from __future__ import annotations

import json
import logging
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.errors import EventTextError, PenstockError
from penstock.records import MAX_TIMESTAMP_MS, Record, Source

_LOG = logging.getLogger(__name__)
_ODD = (AttributeError, KeyError, TypeError, ValueError)


def read_records(event: Any) -> list[Record]:
    """Return the records of a mapping's event, in offset order within each partition.

    Raises:
        EventTextError: the event is not one of a Kafka event source mapping.
    """
    try:
        partitions = event["records"].values()
        return [_read_entry(entry) for partition in partitions for entry in partition]
    except _ODD as error:
        found = _find_service(event) or f"that cannot be read ({type(error).__name__})"
        raise EventTextError(
            f"found an event {found}, expected one of a Kafka mapping with records by partition"
        ) from error


def count_waiting(records: Iterable[Record], error: Exception) -> int:
    """Return how many partitions of a batch wait after an error: all, if it may pass."""
    if not (isinstance(error, PenstockError) and error.retriable):
        return 0
    return len({(record.source.topic, record.source.partition) for record in records})


def answer_mapping(held: Iterable[Source]) -> dict[str, list[Any]]:
    """Return the response that reports these records, and all after them, as not processed."""
    return {
        "batchItemFailures": [
            {
                "itemIdentifier": {
                    "partition": f"{source.topic}-{source.partition}",
                    "offset": source.offset,
                }
            }
            for source in held
        ]
    }


def _find_service(event: Any) -> str:
    """Return the service of another mapping's event, such as `of aws:kinesis`, or nothing."""
    try:
        return f"of {event['Records'][0]['eventSource']}"
    except (IndexError, *_ODD):
        return ""


def _read_entry(entry: Mapping[str, Any]) -> Record:
    source = Source(entry["topic"], entry["partition"], entry["offset"])
    if (type(source.topic), type(source.partition), type(source.offset)) != (str, int, int):
        raise TypeError(source)
    timestamp = entry.get("timestamp")
    # A later timestamp than Spark's latest one would be another record there.
    timestamp = min(timestamp, MAX_TIMESTAMP_MS) if isinstance(timestamp, int) else 0
    try:
        return Record(
            source,
            _decode(entry.get("key")),
            _decode(entry.get("value")),
            tuple(_read_headers(entry.get("headers") or ())),
            timestamp,
        )
    except _ODD as error:
        _LOG.warning("%s cannot be read: %s", source, type(error).__name__)
        return Record(source, None, json.dumps(entry).encode(), (), timestamp)


def _read_headers(headers: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, bytes | None]]:
    for header in headers:
        for name, value in header.items():
            # On AWS, Java writes the bytes, as signed numbers. Kafka allows a value of null.
            yield name, None if value is None else bytes(byte & 0xFF for byte in value)


def _decode(text: str | None) -> bytes | None:
    """Decode base64; the value of a tombstone is null or missing."""
    return None if text is None else a2b_base64(text, strict_mode=True)
