"""Open monitoring: exporters where the cluster asks for them, and the metrics of real brokers."""

from __future__ import annotations

import stat
import sys
import urllib.request
from contextlib import closing

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.structs import OffsetAndMetadata

from localcloud.brokers import NO_NODE_EXPORTER
from localcloud.network.nodes import Nodes
from localcloud.services.kafka.directory import describe_clusters
from localcloud.services.kafka.metrics import measure_clusters, read_broker, read_lags
from tests.kafka.changing import update
from tests.kafka.requests import wait_for
from tests.kafka.running_cluster import produce

BOTH = {
    "Prometheus": {
        "JmxExporter": {"EnabledInBroker": True},
        "NodeExporter": {"EnabledInBroker": True},
    }
}
_NEITHER = {
    "Prometheus": {
        "JmxExporter": {"EnabledInBroker": False},
        "NodeExporter": {"EnabledInBroker": False},
    }
}


@pytest.fixture
def node_exporter(tmp_path, monkeypatch):
    """A node exporter on PATH, which says where it was told to listen."""
    program = tmp_path / "prometheus-node-exporter"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))


def _exporter_ports(cloud, shown):
    name = f".{shown['ClusterName']}."
    (ports,) = {node.ports for node in cloud.state(Nodes).all() if name in node.name}
    return sorted(ports & {11001, 11002})


@pytest.mark.usefixtures("node_exporter")
def test_the_exporters_are_there_when_open_monitoring_asks(cloud, kafka, make_cluster, pretended):
    shown = make_cluster()
    assert _exporter_ports(cloud, shown) == []
    brokers = pretended[shown["ClusterName"]]

    for monitoring, ports in ((BOTH, [11001, 11002]), (BOTH, [11001, 11002]), (_NEITHER, [])):
        shown = wait_for(kafka, shown["ClusterArn"])
        update(kafka, "update_monitoring", shown, OpenMonitoring=monitoring)
        assert _exporter_ports(cloud, shown) == ports

    # The second change is none, so brokers are not restarted for it.
    assert brokers.done == [("exporters", {"JMX", "NODE"}), ("exporters", set())]


def test_a_missing_node_exporter_is_named_and_not_faked(cloud, make_cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = make_cluster(OpenMonitoring=BOTH)

    assert _exporter_ports(cloud, shown) == [11001]
    (status,) = [each for each in describe_clusters(cloud) if each["arn"] == shown["ClusterArn"]]
    assert status["not_exported"] == NO_NODE_EXPORTER


_SHOWN = """\
# TYPE kafka_server_BrokerTopicMetrics_OneMinuteRate untyped
kafka_server_BrokerTopicMetrics_OneMinuteRate{name="BytesInPerSec"} 30.5
kafka_server_BrokerTopicMetrics_OneMinuteRate{name="BytesInPerSec",topic="a"} 20.5
kafka_server_BrokerTopicMetrics_OneMinuteRate{name="MessagesInPerSec",topic="a"} 2.0
kafka_server_BrokerTopicMetrics_Count{name="BytesInPerSec"} 9000.0
kafka_server_BrokerTopicMetrics_OneMinuteRate{name="FailedFetchRequestsPerSec"} 1.0
kafka_server_ReplicaManager_Value{name="UnderReplicatedPartitions"} 3.0
kafka_log_Log_Value{name="Size",partition="0",topic="a"} 1000.0
kafka_log_Log_Value{name="Size",partition="1",topic="a"} 500.0
kafka_log_Log_Value{name="LogEndOffset",partition="0",topic="a"} 77.0
"""


def test_a_broker_has_the_metrics_of_its_level():
    free = [
        ("BytesInPerSec", {}, 30.5),
        ("BytesInPerSec", {"Topic": "a"}, 20.5),
        ("KafkaDataLogsDiskUsed", {}, 15.0),
    ]
    replicas = ("UnderReplicatedPartitions", {}, 3.0)
    messages = ("MessagesInPerSec", {"Topic": "a"}, 2.0)

    assert list(read_broker(_SHOWN, "DEFAULT", 10_000)) == free
    assert list(read_broker(_SHOWN, "PER_BROKER", 10_000)) == [*free[:2], replicas, free[2]]
    of_topics = list(read_broker(_SHOWN, "PER_TOPIC_PER_PARTITION", 10_000))
    assert of_topics == [*free[:2], messages, replicas, free[2]]


def test_lags_are_by_group_and_topic_and_at_the_highest_level_by_partition():
    ends = {("a", 0): 10, ("a", 1): 7, ("b", 0): 3}
    committed = {"g": {("a", 0): 4, ("a", 1): 5, ("b", 0): 9}}
    named = {"Consumer Group": "g", "Topic": "a"}
    sums = [("SumOffsetLag", named, 8), ("MaxOffsetLag", named, 6)]

    found = list(read_lags(ends, committed, "PER_TOPIC_PER_BROKER"))
    assert found[:2] == sums
    assert {value for _, dimensions, value in found[2:]} == {0}  # never negative

    found = list(read_lags(ends, committed, "PER_TOPIC_PER_PARTITION"))
    assert ("OffsetLag", {**named, "Partition": "1"}, 2) in found


@pytest.mark.kafka
def test_real_brokers_are_scraped_and_measured(cloud, running):
    topic = running.topic()
    _, keys = running.assume_role(["*"])
    settings = running.iam(keys)
    for _ in range(3):
        produce(settings, topic, b"x" * 1_000)
    part = TopicPartition(topic, 0)
    with closing(KafkaConsumer(**settings, group_id="late")) as consumer:
        consumer.commit({part: OffsetAndMetadata(1, "", -1)})

    scraped = []
    for node in running.view.nodes:
        url = f"http://{node.loopback_address}:11001/metrics"
        with urllib.request.urlopen(url, timeout=60) as answer:
            scraped += answer.read().decode().splitlines()
    bytes_in = f'kafka_server_BrokerTopicMetrics_Count{{name="BytesInPerSec",topic="{topic}"}} '
    (counted,) = [float(each.split()[-1]) for each in scraped if each.startswith(bytes_in)]
    assert 3_000 < counted < 4_000

    found = {
        (metric.name, *sorted(metric.dimensions.items())): value
        for metric, value in measure_clusters(cloud)
        if metric.account == "111111111111"
    }
    of_cluster = ("Cluster Name", running.view.name)
    group = ("Consumer Group", "late")
    assert found["SumOffsetLag", of_cluster, group, ("Topic", topic)] == 2
    assert found["ActiveControllerCount", of_cluster] == 1
    assert found["OfflinePartitionsCount", of_cluster] == 0
    assert found["GlobalTopicCount", of_cluster] >= 1
    assert any(key[0] == "BytesInPerSec" and ("Topic", topic) in key for key in found)
    assert 0 < found["KafkaDataLogsDiskUsed", ("Broker ID", "1"), of_cluster] < 1
