"""A Kafka client in a VPC, as a process that knows its login and the bootstrap servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from localcloud.cloud import Cloud
from localcloud.network import Source, load_network
from localcloud.services.kafka.directory import ClusterDirectory

_CLIENT_SECONDS = 180
# Each partition is written to and read from at its leader, by the name that it advertises.
_ROUND_TRIP = """
import json, sys
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import TopicPartition

given = json.load(sys.stdin)
if given["creates"]:
    admin = KafkaAdminClient(**given["settings"])
    admin.create_topics([NewTopic(given["topic"], num_partitions=2, replication_factor=3)])
    admin.close()
producer = KafkaProducer(**given["settings"], max_block_ms=given["patience_ms"])
for number in range(4):
    sent = producer.send(given["topic"], b"%d" % number, partition=number % 2)
    sent.get(given["patience_ms"] / 1000)
producer.close()
consumer = KafkaConsumer(**given["settings"], consumer_timeout_ms=60_000)
consumer.assign([TopicPartition(given["topic"], partition) for partition in (0, 1)])
consumer.seek_to_beginning()
print(sorted(int(next(consumer).value) for _ in range(4)))
consumer.close()
"""


@dataclass(frozen=True, slots=True)
class VpcClient:
    """A client of a cluster: its VPC, subnets and security group, its login, its keys.

    A client with keys creates its topic.
    """

    cloud: Cloud
    cluster: str
    place: Mapping[str, Any]
    login: Mapping[str, str]
    keys: Mapping[str, str] = field(default_factory=dict)

    def round_trip(self, topic, patience_seconds=60):
        """Write and read four records; return what the client printed."""
        (view,) = (
            one for one in ClusterDirectory(self.cloud).clusters() if one.arn == self.cluster
        )
        place = self.place
        source = Source(place["vpc"], tuple(place["subnets"]), (place["group"],))
        settings = {
            "security_protocol": "SASL_SSL",
            **self.login,
            "bootstrap_servers": place["bootstrap_servers"].split(","),
            "bootstrap_timeout_ms": patience_seconds * 1000,
            "ssl_cafile": str(view.ca_file),
        }
        given = {
            "creates": bool(self.keys),
            "patience_ms": patience_seconds * 1000,
            "settings": settings,
            "topic": topic,
        }
        environment = load_network(self.cloud).environment_for(source)
        done = subprocess.run(
            [sys.executable, "-c", _ROUND_TRIP],
            input=json.dumps(given),
            env={"PATH": os.defpath, **self.keys, **environment},
            capture_output=True,
            text=True,
            timeout=_CLIENT_SECONDS,
            check=False,
        )
        return done.stdout.strip() or done.stderr
