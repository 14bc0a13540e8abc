"""The event and the response of a Kafka event source mapping.

    {"eventSource": "SelfManagedKafka", "bootstrapServers": "...", "records": {
        "sensor-0": [{"topic": "sensor", "partition": 0, "offset": 15, "timestamp": 1795234015788,
                      "timestampType": "CREATE_TIME", "key": BASE64, "value": BASE64,
                      "headers": [{"name": [97, 98]}]}]}}

The keys under `records` name the partition, and a batch may have any number of partitions. With
ReportBatchItemFailures, the response says from which offset to deliver a partition again:

    {"batchItemFailures": [{"itemIdentifier": {"partition": "sensor-0", "offset": 15}}]}
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import EventTextError
from penstock.records import Record, Source


def read_records(event: Any) -> list[Record]:
    """Return the records of a mapping's event, in offset order within each partition.

    Raises:
        EventTextError: the event is not one of a Kafka event source mapping.
    """
    try:
        partitions = event["records"].values()
        return [_read(record) for partition in partitions for record in partition]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EventTextError(
            f"found an event that cannot be read ({error!r}), expected one of a Kafka mapping with "
            "records by partition"
        ) from error


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


def _read(record: Mapping[str, Any]) -> Record:
    return Record(
        Source(record["topic"], record["partition"], record["offset"]),
        _decode(record.get("key")),
        _decode(record.get("value")),
        tuple(
            # On AWS, Java writes the bytes, as signed numbers.
            (name, bytes(byte & 0xFF for byte in value))
            for header in record.get("headers") or ()
            for name, value in header.items()
        ),
        record.get("timestamp", 0),
    )


def _decode(text: str | None) -> bytes | None:
    """Decode base64; the value of a tombstone is null or missing."""
    return None if text is None else a2b_base64(text, strict_mode=True)
