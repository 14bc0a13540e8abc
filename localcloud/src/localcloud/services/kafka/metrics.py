"""The metrics of clusters in CloudWatch, from the brokers themselves.

Those of brokers come from the JMX exporter, so a cluster without open monitoring has none; those
of consumer groups from Kafka's admin API. A rate is Kafka's own one-minute rate.
"""

from __future__ import annotations

import logging
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeAlias

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from localcloud.cloud import Cloud
from localcloud.metrics import Metric, gauge
from localcloud.services.kafka.listeners import enabled_exporters
from localcloud.services.kafka.model import Cluster, all_clusters
from localcloud.services.kafka.processes import running

_log = logging.getLogger(__name__)
_LEVELS = ("DEFAULT", "PER_BROKER", "PER_TOPIC_PER_BROKER", "PER_TOPIC_PER_PARTITION")
_SECONDS = 10  # a scrape takes Java a second at first: the minutes of a test share one

_SAMPLE = re.compile(r'(\w+)\{name="(\w+)"(?:,partition="\d+")?(?:,topic="([^"]*)")?\} (\S+)')
_RATES = "kafka_server_BrokerTopicMetrics_OneMinuteRate"
_COUNTS = "kafka_server_ReplicaManager_Value"
_LOGS = "kafka_log_Log_Value"
# The level from which MSK has a metric of a broker, and of a topic on a broker.
_OF_BROKER = {
    "BytesInPerSec": "DEFAULT",
    "BytesOutPerSec": "DEFAULT",
    "MessagesInPerSec": "DEFAULT",
    "LeaderCount": "DEFAULT",
    "PartitionCount": "DEFAULT",
    "UnderMinIsrPartitionCount": "PER_BROKER",
    "UnderReplicatedPartitions": "PER_BROKER",
    "ReplicationBytesInPerSec": "PER_BROKER",
    "ReplicationBytesOutPerSec": "PER_BROKER",
}
_OF_TOPIC = {
    "BytesInPerSec": "DEFAULT",
    "BytesOutPerSec": "DEFAULT",
    "MessagesInPerSec": "PER_TOPIC_PER_BROKER",
}
Figure: TypeAlias = tuple[
    str, dict[str, str], float
]  # name, dimensions beside the cluster's, value


@dataclass(slots=True)
class _Seen:
    """The last figures of each cluster, and when they were read."""

    figures: dict[str, tuple[float, list[Figure]]] = field(default_factory=dict)


@gauge
def measure_clusters(cloud: Cloud) -> Iterator[tuple[Metric, float]]:
    """Yield what MSK would record of each running cluster now."""
    seen = cloud.state(_Seen).figures
    for cluster in all_clusters(cloud):
        if cluster.state != "ACTIVE" or "JMX" not in enabled_exporters(cluster.settings):
            continue
        read_at, figures = seen.get(cluster.arn, (float("-inf"), []))
        if time.monotonic() > read_at + _SECONDS:
            figures = [*_measure_brokers(cluster), *_measure_groups(cluster)]
            seen[cluster.arn] = time.monotonic(), figures
        for name, dimensions, value in figures:
            of_cluster = {"Cluster Name": cluster.name, **dimensions}
            yield Metric(cluster.account, cluster.region, "AWS/Kafka", name, of_cluster), value


def read_broker(text: str, level: str, volume_bytes: float) -> Iterator[Figure]:
    """Yield the figures of a broker in what its JMX exporter shows, up to a level of monitoring."""
    stored = 0.0
    for found in filter(None, map(_SAMPLE.fullmatch, text.splitlines())):
        family, name, topic, value = found[1], found[2], found[3], float(found[4])
        if family == _LOGS and name == "Size":
            stored += value
        elif family in {_RATES, _COUNTS}:
            known = _OF_TOPIC if topic else _OF_BROKER
            if name in known and _LEVELS.index(known[name]) <= _LEVELS.index(level):
                yield name, {"Topic": topic} if topic else {}, value
    yield "KafkaDataLogsDiskUsed", {}, 100 * stored / volume_bytes


def read_lags(
    ends: dict[tuple[str, int], int], groups: dict[str, dict[tuple[str, int], int]], level: str
) -> Iterator[Figure]:
    """Yield the lags of groups, from the ends of partitions and the groups' committed offsets."""
    for group, committed in sorted(groups.items()):
        of_topics: dict[str, list[int]] = defaultdict(list)
        for (topic, partition), offset in sorted(committed.items()):
            lag = max(ends.get((topic, partition), offset) - offset, 0)
            of_topics[topic].append(lag)
            if level == _LEVELS[-1]:
                named = {"Consumer Group": group, "Topic": topic, "Partition": str(partition)}
                yield "OffsetLag", named, lag
        for topic, lags in of_topics.items():
            named = {"Consumer Group": group, "Topic": topic}
            yield "SumOffsetLag", named, sum(lags)
            yield "MaxOffsetLag", named, max(lags)


def _measure_brokers(cluster: Cluster) -> Iterator[Figure]:
    brokers = running(cluster)
    storage = cluster.settings["BrokerNodeGroupInfo"]["StorageInfo"]["EbsStorageInfo"]
    yield "ActiveControllerCount", {}, 1  # localcloud never stops a controller
    for node in cluster.nodes:
        try:
            text = brokers.scrape(node.broker_id)
        except OSError as error:  # a broker that is down records nothing
            _log.info("no metrics of broker %s of %s: %s", node.broker_id, cluster.name, error)
            continue
        level, volume_bytes = cluster.settings["EnhancedMonitoring"], storage["VolumeSize"] * 2**30
        for name, dimensions, value in read_broker(text, level, volume_bytes):
            yield name, {"Broker ID": str(node.broker_id), **dimensions}, value


def _measure_groups(cluster: Cluster) -> list[Figure]:
    try:
        with closing(running(cluster).open_admin()) as admin:
            committed = _read_committed(admin)
            parts = [part for group in committed.values() for part in group]
            ends = _read_ends(admin, parts)
            topics = [each for each in admin.describe_topics() if not each["is_internal"]]
    except KafkaError as error:
        _log.info("no metrics of the groups of %s: %s", cluster.name, error)
        return []
    partitions = [each for topic in topics for each in topic["partitions"]]
    offline = sum(each["leader_id"] < 0 for each in partitions)
    return [
        *read_lags(ends, committed, cluster.settings["EnhancedMonitoring"]),
        ("GlobalTopicCount", {}, len(topics)),
        ("GlobalPartitionCount", {}, len(partitions)),
        ("OfflinePartitionsCount", {}, offline),
    ]


def _read_committed(admin: KafkaAdminClient) -> dict[str, dict[tuple[str, int], int]]:
    names = [each["group_id"] for each in admin.list_groups()]
    found = admin.list_group_offsets(names) if names else {}
    return {
        group: {(part.topic, part.partition): kept.offset for part, kept in offsets.items()}
        for group, offsets in found.items()
    }


def _read_ends(
    admin: KafkaAdminClient, parts: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    wanted = {TopicPartition(*part): OffsetSpec.LATEST for part in parts}
    found = admin.list_partition_offsets(wanted) if wanted else {}
    return {(part.topic, part.partition): each.offset for part, each in found.items()}
