"""A channel: what was asked, its state, and how far it has read."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from localcloud.metrics import Metric
from localcloud.services.kafka.model import Cluster

ICEBERG = "IcebergDestinationConfiguration"
BUCKET = "S3DestinationConfiguration"


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the topic."""

    partition: int
    offset: int
    value: bytes | None


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record that cannot be delivered, and why."""

    record: Record
    code: str
    message: str


@dataclass(slots=True)
class Delivery:
    """The outcome of one delivery; `problem` is why some records, or all, still wait."""

    delivered: int = 0
    failed: list[FailedRecord] = field(default_factory=list)
    waiting: list[Record] = field(default_factory=list)
    problem: str = ""


class ChannelStoppedError(Exception):
    """Nothing can be delivered now; the records wait."""


class ChannelSuspendedError(Exception):
    """Nothing can ever be delivered again: the channel becomes SUSPENDED."""


class ChannelFailedError(Exception):
    """A channel cannot be created; `code` is that of its StateInfo."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Channel:
    """A channel; `asked` is the request of CreateChannel, `positions` the next offsets."""

    arn: str
    id: str
    cluster: Cluster
    asked: dict[str, Any]
    created_at: datetime
    state: str = "CREATING"
    state_info: dict[str, str] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)
    objects: int = 0
    deliver: Callable[[], Delivery] = Delivery
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def name(self) -> str:
        """The name it was created with."""
        return str(self.asked["ChannelName"])

    @property
    def kind(self) -> str:
        """ICEBERG or S3."""
        return "ICEBERG" if ICEBERG in self.asked else "S3"

    @property
    def destination(self) -> dict[str, Any]:
        """The destination as it was asked for."""
        found: dict[str, Any] = self.asked.get(ICEBERG) or self.asked[BUCKET]
        return found

    @property
    def source(self) -> dict[str, Any]:
        """The configuration of its one topic."""
        found: dict[str, Any] = self.asked["TopicConfigurationList"][0]
        return found

    @property
    def topic(self) -> str:
        """The name of the topic."""
        return str(self.source["TopicArn"]).rpartition("/")[2]

    @property
    def converter(self) -> str:
        """The format of the records' values."""
        return str(self.source["RecordConverter"]["ValueConverter"])

    @property
    def role_arn(self) -> str:
        """The role that it delivers as."""
        return str(self.destination["ServiceExecutionRoleArn"])

    @property
    def freshness_seconds(self) -> int:
        """The longest time between two deliveries."""
        return int(self.destination.get("DataFreshnessInSeconds", 600))

    def count(self, name: str, value: float) -> None:
        """Record a metric of the channel."""
        dimensions = {
            "ClusterName": self.cluster.name,
            "ChannelName": self.name,
            "Topic": self.topic,
        }
        kind = "DeliveryToIceberg" if self.kind == "ICEBERG" else "DeliveryToS3"
        place = (self.cluster.account, self.cluster.region, "AWS/Kafka")
        Metric(*place, f"{kind}.{name}", dimensions).record(value)


class Channels:
    """The channels of an account and region by their ARNs."""

    def __init__(self) -> None:
        self.by_arn: dict[str, Channel] = {}


def describe_failure(topic: str, failed: FailedRecord) -> str:
    """Return the line of a dead-letter object: where the record is and why, without its value."""
    return json.dumps(
        {
            "topic": topic,
            "partition": failed.record.partition,
            "offset": failed.record.offset,
            "errorCode": failed.code,
            "errorMessage": failed.message,
        }
    )
