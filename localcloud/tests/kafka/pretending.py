"""Brokers that are pretended, and clusters as tests ask for them."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka.errors import KafkaConnectionError

from localcloud.services.kafka.brokers import BrokerProcess
from localcloud.services.kafka.processes import Launcher
from localcloud.testing import wait_until

SCRAM_AND_IAM = {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}}


class PretendedBrokers:
    """Keeps what it is told; `fails` is what the next change raises."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.ca_file = Path("ca.pem")
        self.users = {}
        self.properties = dict(cluster.properties)
        self.listeners = None
        self.done = []
        self.fails = None
        self.processes = [BrokerProcess(100, 1, 2)]

    def address(self, broker_id):
        return f"127.99.99.{broker_id}"

    def add_brokers(self, zones):
        self._do(("add", dict(zones)))

    def set_users(self, users):
        self.users.update(users)

    def apply(self, properties):
        self._do("apply")
        self.properties = dict(properties)

    def open_listeners(self, listeners):
        self._do("open")
        self.listeners = listeners

    def open_exporters(self, exporters):
        self._do(("exporters", set(exporters)))

    def kill(self, broker_id):
        self._do(("kill", broker_id))

    def pause(self, broker_id):
        self._do(("pause", broker_id))

    def resume(self, broker_id):
        self._do(("resume", broker_id))

    def restart(self, broker_id):
        self._do(("restart", broker_id))

    def scrape(self, broker_id):
        raise ConnectionRefusedError(f"broker {broker_id} is pretended")

    def open_admin(self):
        raise KafkaConnectionError

    def stop(self):
        self._do("stop")

    def _do(self, what):
        self.done.append(what)
        failure, self.fails = self.fails, None
        if failure is not None:
            raise failure


@contextmanager
def pretend_brokers(cloud):
    """Let clusters have pretended brokers; a dictionary of them by the clusters' names."""
    known = {}

    def launch(_, cluster):
        known[cluster.name] = PretendedBrokers(cluster)
        return known[cluster.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cloud.state(Launcher), "launch", launch)
        yield known


def describe_request(subnets, zones=2):
    """Write the parameters of CreateCluster that are always needed, under a new name."""
    return {
        "ClusterName": f"c-{secrets.token_hex(4)}",
        "KafkaVersion": "3.9.x.kraft",
        "NumberOfBrokerNodes": zones,
        "ClientAuthentication": SCRAM_AND_IAM,
        "BrokerNodeGroupInfo": {
            "InstanceType": "kafka.m7g.large",
            "ClientSubnets": subnets[:zones],
        },
    }


def wait_for(kafka, arn, state="ACTIVE", seconds=150):
    """Wait until a cluster is in a state; returns what DescribeCluster shows."""

    def reached():
        shown = kafka.describe_cluster(ClusterArn=arn)["ClusterInfo"]
        return shown if shown["State"] == state else None

    return wait_until(f"{state} of {arn}", reached, seconds)
