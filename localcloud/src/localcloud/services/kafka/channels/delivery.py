"""The life of a channel: its creation, and a delivery at each end of its freshness.

The brokers themselves deliver, so no security group and no login to Kafka is asked. AWS, Glue and
S3 are called as the channel's role.
"""

from __future__ import annotations

import functools
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.identity.credentials import credentials_for_role
from localcloud.identity.permissions import may_be_assumed_by_service
from localcloud.services.kafka.channels.model import (
    Channel,
    ChannelFailedError,
    Channels,
    ChannelStoppedError,
    ChannelSuspendedError,
    Delivery,
    Record,
)
from localcloud.services.kafka.processes import running

_log = logging.getLogger(__name__)
_SERVICE = "kafka.amazonaws.com"
_POLL_MS = 200
OpenClient = Callable[[str], Any]


class Writer(Protocol):
    """The destination of a channel."""

    def open(self, open_client: OpenClient) -> None:
        """Check and make what the destination needs."""

    def deliver(self, records: Iterable[Record], open_client: OpenClient) -> Delivery:
        """Deliver records."""


def begin_channel(cloud: Cloud, channel: Channel) -> None:
    """Create a channel in the background: CREATING, then ACTIVE or FAILED."""
    cloud.on_stop(channel.ended.set)
    writer = _make_writer(channel, cloud.endpoint)
    channel.deliver = functools.partial(_deliver, cloud, channel, writer)
    name = f"channel {channel.name}"
    threading.Thread(target=_live, args=(cloud, channel, writer), name=name, daemon=True).start()


def _make_writer(channel: Channel, endpoint: str) -> Writer:
    """Return the destination; Arrow and Iceberg are imported for channels alone."""
    if channel.kind == "ICEBERG":
        from localcloud.services.kafka.channels.tables import TableWriter  # noqa: PLC0415

        return TableWriter(channel, endpoint)
    from localcloud.services.kafka.channels.objects import BucketWriter  # noqa: PLC0415

    return BucketWriter(channel)


@action("deliver-channel")
def deliver_channel(cloud: Cloud, *, channel: str) -> dict[str, Any]:
    """Let a channel, by its ARN, deliver now what it would at the end of its freshness."""
    for _, _, channels in cloud.states(Channels):
        if (found := channels.by_arn.get(channel)) is not None:
            if found.state != "ACTIVE":
                raise ValueError(f"the channel {channel} is {found.state}, expected ACTIVE")
            delivery = found.deliver()
            failed = [asdict(each.record) | {"code": each.code} for each in delivery.failed]
            return {
                "delivered": delivery.delivered,
                "failed": [{k: v for k, v in each.items() if k != "value"} for each in failed],
                "problem": delivery.problem,
            }
    raise LookupError(f"there is no channel {channel}; ListChannels has their ARNs")


def _live(cloud: Cloud, channel: Channel, writer: Writer) -> None:
    try:
        writer.open(_as_role(cloud, channel))
        channel.positions = _read_ends(channel)
    except ChannelFailedError as error:
        _fail(channel, error.code, str(error))
    except ChannelStoppedError as error:
        _fail(channel, "AccessDenied", str(error))
    except ClientError as error:
        _fail(channel, error.response["Error"]["Code"], error.response["Error"]["Message"])
    except Exception as error:  # a bug of ours: it must be visible in the channel
        _log.exception("channel %s failed", channel.arn)
        _fail(channel, "InternalFailure", f"localcloud failed: {type(error).__name__}: {error}")
    else:
        channel.state = "ACTIVE"
        while not channel.ended.wait(channel.freshness_seconds):
            if channel.state == "ACTIVE":
                channel.deliver()


def _fail(channel: Channel, code: str, message: str) -> None:
    channel.state_info = {"Code": code, "Message": message}
    channel.state = "FAILED"


def _deliver(cloud: Cloud, channel: Channel, writer: Writer) -> Delivery:
    """Deliver the new records of the topic, each once, or none of them."""
    with channel.lock:
        delivery = Delivery()
        try:
            records, ends = _read_new(channel)
            delivery = writer.deliver(records, _as_role(cloud, channel))
            channel.positions = ends | _first_offsets(delivery.waiting)
        except ChannelSuspendedError as error:
            channel.state, delivery.problem = "SUSPENDED", str(error)
        except (ChannelStoppedError, ChannelFailedError, ClientError, BotoCoreError) as error:
            delivery.problem = str(error)
        except KafkaError as error:
            delivery.problem = f"the brokers do not answer: {error!r}"
        _report(cloud, channel, delivery)
        return delivery


def _first_offsets(records: Iterable[Record]) -> dict[int, int]:
    found: dict[int, int] = {}
    for record in records:
        found.setdefault(record.partition, record.offset)
    return found


def _as_role(cloud: Cloud, channel: Channel) -> OpenClient:
    """Return what opens a client as the role of the channel.

    Raises:
        ChannelStoppedError: the role does not trust MSK for this channel.
    """
    cluster = channel.cluster
    context = {"aws:SourceAccount": cluster.account, "aws:SourceArn": channel.arn}
    if not may_be_assumed_by_service(channel.role_arn, _SERVICE, context):
        raise ChannelStoppedError(f"{channel.role_arn} does not let {_SERVICE} assume it")
    key = credentials_for_role(cloud, channel.role_arn, channel.name)
    return functools.cache(lambda service: key.open_client(service, cluster.region, cloud.endpoint))


def _report(cloud: Cloud, channel: Channel, delivery: Delivery) -> None:
    """Record the metrics, and write what went wrong to the log group of the channel."""
    noun = "Row" if channel.kind == "ICEBERG" else "Record"
    channel.count(f"Successful{noun}Count", delivery.delivered)
    channel.count(f"Failed{noun}Count", len(delivery.failed))
    lines = [f"{each.code}: {each.message}" for each in delivery.failed]
    lines += [delivery.problem] if delivery.problem else []
    group = channel.asked.get("LoggingInfo", {}).get("CloudWatchLogs", {})
    if not lines or not group.get("Enabled"):
        return
    events = [
        {"timestamp": int(time.time() * 1000), "message": _log_line(channel, line)}
        for line in lines
    ]
    place = {"logGroupName": group["LogGroup"], "logStreamName": channel.name}
    try:
        logs = _as_role(cloud, channel)("logs")
        try:
            logs.create_log_stream(**place)
        except logs.exceptions.ResourceAlreadyExistsException:
            pass
        logs.put_log_events(**place, logEvents=events)
    except (ClientError, ChannelStoppedError) as error:  # on AWS nobody learns of it
        _log.warning("channel %s cannot log: %s", channel.arn, error)


def _log_line(channel: Channel, message: str) -> str:
    return json.dumps({"channelArn": channel.arn, "level": "ERROR", "message": message})


def _read_ends(channel: Channel) -> dict[int, int]:
    """Return the ends of the topic's partitions: earlier records are never delivered."""
    with closing(running(channel.cluster).open_consumer()) as consumer:
        found = consumer.partitions_for_topic(channel.topic)
        if not found:
            raise ChannelFailedError("NotFound", f"the topic {channel.topic} doesn't exist")
        ends = consumer.end_offsets([TopicPartition(channel.topic, each) for each in found])
        return {place.partition: offset for place, offset in ends.items()}


def _read_new(channel: Channel) -> tuple[list[Record], dict[int, int]]:
    """Return the records from the positions on, and the positions behind them."""
    with closing(running(channel.cluster).open_consumer()) as consumer:
        found = consumer.partitions_for_topic(channel.topic) or set()
        places = [TopicPartition(channel.topic, each) for each in sorted(found)]
        starts, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
        consumer.assign(places)
        for place in places:
            consumer.seek(place, max(starts[place], channel.positions.get(place.partition, 0)))
        return list(_poll(consumer, ends)), {place.partition: ends[place] for place in places}


def _poll(consumer: KafkaConsumer, ends: dict[TopicPartition, int]) -> Iterable[Record]:
    while any(consumer.position(place) < end for place, end in ends.items()):
        for place, records in consumer.poll(_POLL_MS).items():
            for each in records:
                if each.offset < ends[place]:
                    yield Record(place.partition, each.offset, each.value)
