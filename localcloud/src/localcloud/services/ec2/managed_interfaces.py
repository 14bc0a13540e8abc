"""The subnets and security groups in which services keep interfaces that EC2 does not list here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from localcloud.door.operations import Call
from localcloud.services.emr.model import Clusters
from localcloud.services.emr_serverless.model import Applications
from localcloud.services.kafka.model import Kafka
from localcloud.services.kafkaconnect.model import KafkaConnect
from localcloud.services.lambda_.execution import place_of_poller
from localcloud.services.lambda_.mappings import Mappings

_State = TypeVar("_State")
_GROUPS_OF_EMR = (
    "EmrManagedMasterSecurityGroup",
    "EmrManagedSlaveSecurityGroup",
    "ServiceAccessSecurityGroup",
)
_MORE_GROUPS_OF_EMR = ("AdditionalMasterSecurityGroups", "AdditionalSlaveSecurityGroups")


class Use(NamedTuple):
    """The subnets and groups of one resource."""

    subnets: set[str]
    groups: set[str]


def list_managed_uses(call: Call) -> Iterator[Use]:
    """Yield the uses of MSK, MSK Connect, EMR, EMR Serverless and pollers in the account."""
    for kafka in _find(call, Kafka):
        for connection in list(kafka.vpc_connections.values()):
            yield Use(set(connection.subnets), set(connection.security_groups))
        for cluster in list(kafka.clusters.values()):
            for config in cluster.vpc_configs:
                yield Use(set(config["SubnetIds"]), set(config["SecurityGroupIds"]))
    for connect in _find(call, KafkaConnect):
        for connector in list(connect.connectors.values()):
            vpc = connector.settings["kafkaCluster"]["apacheKafkaCluster"]["vpc"]
            yield Use(set(vpc["subnets"]), set(vpc.get("securityGroups", ())))
    for mappings in _find(call, Mappings):
        for mapping in list(mappings.by_id.values()):
            subnets, groups = place_of_poller(mapping.record)
            yield Use(set(subnets), set(groups))
    yield from _list_uses_of_jobs(call)


def _list_uses_of_jobs(call: Call) -> Iterator[Use]:
    """Yield the uses of clusters until they are terminated, and of applications with a run."""
    for clusters in _find(call, Clusters):
        for cluster in list(clusters.by_id.values()):
            if not cluster.state.startswith("TERMINATED"):
                asked = cluster.asked["Instances"]
                more = (asked.get(name, ()) for name in _MORE_GROUPS_OF_EMR)
                groups = {asked.get(name, "") for name in _GROUPS_OF_EMR}
                yield Use(set(cluster.place.subnets), groups.union(*more))
    for applications in _find(call, Applications):
        for application in list(applications.by_id.values()):
            if any(not each.run.state.final for each in list(application.runs.values())):
                network = application.settings.get("networkConfiguration", {})
                names = ("subnetIds", "securityGroupIds")
                yield Use(*(set(network.get(name, ())) for name in names))


def _find(call: Call, kind: type[_State]) -> list[_State]:
    """Return the state of a service in the caller's account and region, if it has been used."""
    here = (call.account, call.region)
    return [state for *place, state in call.cloud.states(kind) if tuple(place) == here]
