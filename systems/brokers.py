"""One real broker without logins, which any client on this machine may use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kafka.admin import KafkaAdminClient, NewTopic

from localcloud.brokers import BrokerCluster, ClusterSpec, choose_network, prepare_brokers

MAX_BYTES: Final = 2_000_000  # of a record


class _AddressedSpec(ClusterSpec):
    """A cluster whose brokers are named by address, so that no name has to resolve."""

    def name(self, broker_id: int) -> str:
        """Return the broker's address."""
        return self.address(broker_id)


@contextmanager
def running_broker(folder: Path) -> Iterator[str]:
    """Run a broker with its files in a folder, and yield its address."""
    with running_cluster(folder) as brokers:
        yield brokers.bootstrap_servers("PLAINTEXT")


@contextmanager
def running_cluster(folder: Path) -> Iterator[BrokerCluster]:
    """Run a cluster of one broker with its files in a folder."""
    spec = _AddressedSpec(
        network=choose_network(),
        broker_count=1,
        plaintext=True,
        properties={"allow.everyone.if.no.acl.found": "true"},
    )
    with BrokerCluster(folder, spec, jvm=prepare_brokers()) as brokers:
        yield brokers


def make_topics(servers: str, names: Sequence[str]) -> None:
    """Create topics of one partition."""
    properties = {"max.message.bytes": str(MAX_BYTES)}
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(each, 1, 1, topic_configs=properties) for each in names])
    admin.close()
