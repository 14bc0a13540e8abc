"""Serverless clusters: IAM logins only, in VPCs that are named, within MSK Serverless's limits.

MSK Developer Guide, "MSK Serverless", "Quota for serverless clusters" and "Configuration
properties for MSK Serverless clusters". The brokers are real ones; what they take of a topic is
decided by `ServerlessTopics` in Broker.java.
"""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call
from localcloud.services.kafka.interfaces import check_places
from localcloud.services.kafka.listeners import is_enabled
from localcloud.services.kafka.model import (
    Cluster,
    bad_request,
    new_identity,
    now,
    own_state,
)

_BROKERS = 3  # as many as each partition has replicas
_MOST_CLUSTERS = 10
_MOST_VPCS = 5
_POLICY = "localcloud.Broker$ServerlessTopics"
_PROPERTIES = {
    "alter.config.policy.class.name": _POLICY,
    "auto.create.topics.enable": "false",
    "create.topic.policy.class.name": _POLICY,
    "message.max.bytes": "8388608",
}
_LOGIN = {"Sasl": {"Iam": {"Enabled": True}}}


def make_serverless(call: Call, name: str, given: dict[str, Any]) -> Cluster:
    """Check the parameters of a serverless cluster and return it.

    Raises:
        AwsError: it has no IAM login, unknown or too few subnets, or it is one too many.
    """
    if not is_enabled(given.get("ClientAuthentication", {}), "Sasl", "Iam"):
        raise bad_request("A serverless cluster needs IAM access control: enable Sasl.Iam")
    known = own_state(call).clusters.values()
    if sum(cluster.serverless for cluster in known) >= _MOST_CLUSTERS:
        raise bad_request(f"An account has up to {_MOST_CLUSTERS} serverless clusters")
    configs = [_check_config(call, config) for config in given["VpcConfigs"]]
    if not 0 < len(configs) <= _MOST_VPCS:
        raise bad_request(f"A serverless cluster is in 1 to {_MOST_VPCS} VPCs, not {len(configs)}")
    identity, label = new_identity()
    return Cluster(
        arn=f"arn:aws:kafka:{call.region}:{call.account}:cluster/{name}/{identity}",
        zone=f"{label}.kafka-serverless.{call.region}.amazonaws.com",
        vpc_id=configs[0]["VpcId"],
        settings=_settings(configs[0]),
        tags=call.params.get("Tags", {}),
        properties=dict(_PROPERTIES),
        created_at=now(),
        vpc_configs=configs,
    )


def show_serverless(cluster: Cluster) -> dict[str, Any]:
    """Return the part of DescribeClusterV2 that only serverless clusters have."""
    shown = [
        {key: config[key] for key in ("SubnetIds", "SecurityGroupIds")}
        for config in cluster.vpc_configs
    ]
    return {"VpcConfigs": shown, "ClientAuthentication": _LOGIN}


def _check_config(call: Call, config: dict[str, Any]) -> dict[str, Any]:
    subnets = config["SubnetIds"]
    if len(subnets) < 2:
        raise bad_request("Specify at least two subnets, in different Availability Zones")
    places = {"ClientSubnets": subnets, "SecurityGroups": config.get("SecurityGroupIds", [])}
    vpc_id = check_places(call.account, call.region, places)
    return {"VpcId": vpc_id, "SubnetIds": subnets, "SecurityGroupIds": places["SecurityGroups"]}


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a provisioned cluster that is like it, for localcloud alone."""
    return {
        "BrokerNodeGroupInfo": {
            "ClientSubnets": config["SubnetIds"],
            "SecurityGroups": config["SecurityGroupIds"],
            "ConnectivityInfo": {},
        },
        "ClientAuthentication": _LOGIN,
        "EncryptionInfo": {"EncryptionInTransit": {"ClientBroker": "TLS", "InCluster": True}},
        "NumberOfBrokerNodes": _BROKERS,
    }
