"""The real brokers of a cluster: their processes, and their questions about IAM."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType

from localcloud.brokers import BrokerCluster, ClusterSpec, prepare_brokers, scrape_jmx
from localcloud.children import resident_mb
from localcloud.cloud import Cloud
from localcloud.errors import AddressInUseError, BrokerStartError
from localcloud.network.loopback import BROKER_NETWORKS, claim_network
from localcloud.services.kafka.authorities import read_authorities
from localcloud.services.kafka.brokers import BrokerProcess, RunningBrokers
from localcloud.services.kafka.iam import serve_iam
from localcloud.services.kafka.interfaces import zone_of
from localcloud.services.kafka.listeners import (
    admits_anyone,
    all_listeners,
    enabled_exporters,
)
from localcloud.services.kafka.model import Cluster, bad_request

_ATTEMPTS = 5
_PREPARING = threading.Lock()

# MSK's defaults that differ from those of our brokers.
_MSK_DEFAULTS = {"allow.everyone.if.no.acl.found": "true"}


class Launcher:
    """Starts brokers; tests of the control plane replace `launch`."""

    def __init__(self) -> None:
        self.launch: Callable[[Cloud, Cluster], RunningBrokers] = launch_brokers


def running(cluster: Cluster) -> RunningBrokers:
    """Return a cluster's brokers; raise AwsError if it has none."""
    if cluster.brokers is None:
        raise bad_request(f"The cluster has no brokers; it is {cluster.state}")
    return cluster.brokers


def listening(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what brokers with these settings listen on, and whose certificates they accept."""
    return {
        "listeners": all_listeners(settings),
        "client_authorities": read_authorities(settings),
        "anonymous": admits_anyone(settings),
    }


def launch_brokers(cloud: Cloud, cluster: Cluster) -> RunningBrokers:
    """Start a cluster's brokers and wait until they answer."""
    with _PREPARING:  # one JVM archive for all, created once
        prepare_brokers()
    brokers = _Brokers(cloud, cluster)
    brokers.start()
    return brokers


class _Brokers:
    """The processes of one cluster; see RunningBrokers."""

    def __init__(self, cloud: Cloud, cluster: Cluster) -> None:
        self._folder = cloud.folder / "kafka" / cluster.uuid
        self._ending = ExitStack()
        self._spec = ClusterSpec(
            zone=cluster.zone,
            broker_count=len(cluster.nodes),
            **listening(cluster.settings),
            exporters=enabled_exporters(cluster.settings),
            racks={node.broker_id: zone_of(cluster, node.subnet_id) for node in cluster.nodes},
            token_url=self._ending.enter_context(serve_iam(cloud, cluster)),
            properties={**_MSK_DEFAULTS, **cluster.properties},
            bootstrap_name=cluster.bootstrap_name,
        )
        self._cluster = self._make()
        self._dynamic: set[str] = set()

    @property
    def ca_file(self) -> Path:
        return self._cluster.ca_file

    @property
    def processes(self) -> list[BrokerProcess]:
        return [
            BrokerProcess(node, pid, resident_mb(pid))
            for node, pid in sorted(self._cluster.pids.items())
        ]

    def address(self, broker_id: int) -> str:
        return self._cluster.spec.address(broker_id)

    def start(self) -> None:
        for left in reversed(range(_ATTEMPTS)):
            try:
                self._cluster.start()
            except AddressInUseError:
                if not left:
                    self.stop()
                    raise
                self._cluster = self._make()
            except BaseException:
                self.stop()
                raise
            else:
                return

    def add_brokers(self, zones: Mapping[int, str]) -> None:
        spec = self._cluster.spec
        self._cluster.spec = replace(spec, racks={**spec.racks, **zones})
        for broker_id in zones:
            self._cluster.restart(broker_id)

    def set_users(self, users: Mapping[str, str]) -> None:
        for name, password in users.items():
            self._cluster.set_user(name, password)

    def apply(self, properties: Mapping[str, str]) -> None:
        before = self._cluster.spec
        wanted = {**_MSK_DEFAULTS, **properties}
        changed = dict(wanted.items() - before.properties.items())
        removed = before.properties.keys() - wanted.keys()
        if not changed and not removed:
            return
        at_once = not removed and self._alter(changed)
        self._cluster.spec = replace(before, properties=wanted)
        if at_once:
            self._dynamic |= changed.keys()
            return
        try:
            self._restart_all()
        except BrokerStartError:
            self._cluster.spec = before
            self._restart_all()
            raise

    def open_listeners(self, settings: dict[str, Any]) -> None:
        self._cluster.spec = replace(self._cluster.spec, **listening(settings))
        self._restart_all()

    def open_exporters(self, exporters: frozenset[str]) -> None:
        self._cluster.spec = replace(self._cluster.spec, exporters=exporters)
        self._restart_all()

    def open_admin(self) -> KafkaAdminClient:
        return self._cluster.open_admin()

    def scrape(self, broker_id: int) -> str:
        return scrape_jmx(self.address(broker_id))

    def open_consumer(self) -> KafkaConsumer:
        return self._cluster.open_consumer()

    def kill(self, broker_id: int) -> None:
        self._cluster.kill(broker_id)

    def pause(self, broker_id: int) -> None:
        self._cluster.pause(broker_id)

    def resume(self, broker_id: int) -> None:
        self._cluster.resume(broker_id)

    def restart(self, broker_id: int) -> None:
        self._cluster.restart(broker_id)

    def stop(self) -> None:
        self._cluster.stop()
        self._ending.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make(self) -> BrokerCluster:
        """Return a cluster on a loopback network of its own; another program may listen there."""
        network, guard = claim_network(BROKER_NETWORKS)
        self._ending.callback(guard.close)
        return BrokerCluster(self._folder, replace(self._spec, network=network))

    def _restart_all(self) -> None:
        # Properties set at run time would override those of the start.
        if self._dynamic and self._alter(dict.fromkeys(self._dynamic)):
            self._dynamic.clear()
        self._cluster.restart_all()

    def _alter(self, changes: Mapping[str, str | None]) -> bool:
        """Set properties (None: unset) on the running brokers; return whether Kafka accepted all.

        Raises:
            ValueError: Kafka refuses a value.
        """
        configs = {
            name: (AlterConfigOp.DELETE if value is None else AlterConfigOp.SET, value)
            for name, value in changes.items()
        }
        brokers = [
            ConfigResource(ConfigResourceType.BROKER, str(broker_id), configs)
            for broker_id in self._cluster.broker_ids
        ]
        with closing(self._cluster.open_admin()) as admin:
            try:
                answers = set(admin.alter_configs(brokers)["broker"].values())
            except ValueError:  # not settable at run time, or unknown to brokers
                return False
        if refusals := sorted(answer for answer in answers if "Invalid value" in answer):
            raise ValueError(refusals[0])
        return answers == {"OK"}
