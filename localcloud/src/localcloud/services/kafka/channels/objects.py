"""Objects that a channel writes as its role: delivered records, and dead letters."""

from __future__ import annotations

import gzip
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from localcloud.identity.resource_policies import owner_of
from localcloud.services.kafka.channels.keys import make_key
from localcloud.services.kafka.channels.model import (
    Channel,
    ChannelSuspendedError,
    Delivery,
    FailedRecord,
    Record,
    describe_failure,
)
from localcloud.services.kafka.channels.rows import RowError, parse_json

_COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "NONE": bytes,
    "GZIP": gzip.compress,
    "ZSTD": lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
}


class BucketWriter:
    """Delivers to a general purpose bucket: an object for each partition, a record on a line."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def open(self, open_client: Callable[[str], Any]) -> None:
        """Look at the bucket; raise ClientError if the role may not, or it does not exist."""
        open_client("s3").head_bucket(Bucket=bucket_of(self._channel.destination["Storage"]))

    def deliver(self, records: Iterable[Record], open_client: Callable[[str], Any]) -> Delivery:
        """Write the records, except those that are not of the channel's format."""
        delivery, taken = Delivery(), defaultdict[int, list[Record]](list)
        for record in records:
            try:
                _check(record, self._channel.converter)
            except RowError as error:
                delivery.failed.append(FailedRecord(record, error.code, str(error)))
            else:
                taken[record.partition].append(record)
        write_dead_letters(self._channel, delivery.failed, open_client)
        for partition, of_partition in taken.items():
            self._write(partition, of_partition, open_client)
            delivery.delivered += len(of_partition)
        return delivery

    def _write(
        self, partition: int, records: list[Record], open_client: Callable[[str], Any]
    ) -> None:
        channel, storage = self._channel, self._channel.destination["Storage"]
        channel.objects += 1
        values = {
            "channel-id": channel.id,
            "topic-name": channel.topic,
            "partition-id": str(partition),
            "kafka-offset": f"{records[0].offset:018}",
            "sequence-number": str(channel.objects),
        }
        lines = b"".join((record.value or b"") + b"\n" for record in records)
        put_object(
            open_client("s3"),
            storage,
            make_key(storage, values, datetime.now(UTC)),
            _COMPRESSIONS[storage["CompressionType"]](lines),
            StorageClass=storage["StorageClass"],
        )


def write_dead_letters(
    channel: Channel, failed: list[FailedRecord], open_client: Callable[[str], Any]
) -> None:
    """Write one object with the places of records that cannot be delivered."""
    if not failed:
        return
    queue = channel.destination["DeadLetterQueueS3"]
    lines = "".join(f"{describe_failure(channel.topic, each)}\n" for each in failed)
    key = f"{queue.get('ErrorOutputPrefix', '')}{channel.id}/{uuid.uuid4()}"
    put_object(open_client("s3"), queue, key, lines.encode())


def bucket_of(place: Mapping[str, Any]) -> str:
    """Return the name of a bucket that is given by its ARN."""
    return str(place["BucketArn"]).rpartition(":")[2]


def put_object(s3: Any, place: Mapping[str, Any], key: str, body: bytes, **more: str) -> None:
    """Write an object into a bucket of the expected owner.

    Raises:
        ChannelSuspendedError: another account owns the bucket.
    """
    expected = place.get("ExpectedBucketOwner")
    owner = owner_of(place["BucketArn"], expected or "")
    if expected and owner != expected:
        raise ChannelSuspendedError(f"{place['BucketArn']} is not owned by account {expected}")
    s3.put_object(Bucket=bucket_of(place), Key=key, Body=body, **more)


def _check(record: Record, converter: str) -> None:
    if converter == "JSON":
        parse_json(record.value)
    elif converter == "STRING":
        try:
            (record.value or b"").decode()
        except UnicodeDecodeError as error:
            raise RowError("MalformedRecord", f"the value is no text in UTF-8: {error}") from error
