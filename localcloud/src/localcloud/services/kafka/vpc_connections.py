"""VPC connections (multi-VPC connectivity), through which brokers are reached from other VPCs."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.network.nodes import Nodes
from localcloud.services.kafka.access import find_cluster, find_own_cluster
from localcloud.services.kafka.interfaces import check_places
from localcloud.services.kafka.lifecycle import plug_connections
from localcloud.services.kafka.listeners import vpc_logins
from localcloud.services.kafka.model import (
    PAGES,
    Kafka,
    VpcConnection,
    bad_request,
    new_identity,
    not_found,
    now,
    own_state,
    state_of,
)


@operation("kafka", "CreateVpcConnection")
def create_vpc_connection(call: Call) -> dict[str, Any]:
    """Create a connection from a VPC of the caller to a cluster."""
    params = call.params
    cluster = find_cluster(call, arn=params["TargetClusterArn"])
    if cluster.state != "ACTIVE":
        raise bad_request(f"The cluster must be ACTIVE for this; it is {cluster.state}")
    if params["Authentication"].removeprefix("SASL_") not in vpc_logins(cluster.settings):
        raise bad_request(
            f"The cluster has no VPC connectivity with {params['Authentication']}; it has "
            f"{', '.join(sorted(vpc_logins(cluster.settings))) or 'none'}"
        )
    places = {"ClientSubnets": params["ClientSubnets"], "SecurityGroups": params["SecurityGroups"]}
    if check_places(call.account, call.region, places) != params["VpcId"]:
        raise bad_request(f"The client subnets are not in {params['VpcId']}")
    connection = VpcConnection(
        arn=f"arn:aws:kafka:{call.region}:{call.account}:vpc-connection/"
        f"{cluster.account}/{cluster.name}/{new_identity()[0]}",
        cluster_arn=cluster.arn,
        authentication=params["Authentication"],
        vpc_id=params["VpcId"],
        subnets=params["ClientSubnets"],
        security_groups=places["SecurityGroups"],
        tags=params.get("Tags", {}),
        created_at=now(),
    )
    own_state(call).vpc_connections[connection.arn] = connection
    plug_connections(call.cloud, cluster)
    return _show(connection)


@operation("kafka", "DescribeVpcConnection")
def describe_vpc_connection(call: Call) -> dict[str, Any]:
    """Describe a connection."""
    return _show(_find_connection(call, call.params["Arn"]))


@operation("kafka", "ListVpcConnections")
def list_vpc_connections(call: Call) -> dict[str, Any]:
    """List the connections of the account."""
    page, more = PAGES.cut(call, list(own_state(call).vpc_connections.values()))
    return {"VpcConnections": [_show(connection) for connection in page], **more}


@operation("kafka", "DeleteVpcConnection")
def delete_vpc_connection(call: Call) -> dict[str, Any]:
    """Delete a connection."""
    connection = _find_connection(call, call.params["Arn"])
    del own_state(call).vpc_connections[connection.arn]
    call.cloud.state(Nodes).disconnect(connection.arn)
    return {"VpcConnectionArn": connection.arn, "State": "DELETING"}


@operation("kafka", "ListClientVpcConnections")
def list_client_vpc_connections(call: Call) -> dict[str, Any]:
    """List the connections to a cluster, for its owner."""
    cluster = find_own_cluster(call)
    found = [
        {**_show(connection), "Owner": account}
        for account, _, kafka in call.cloud.states(Kafka)
        for connection in kafka.vpc_connections.values()
        if connection.cluster_arn == cluster.arn
    ]
    page, more = PAGES.cut(call, found)
    return {"ClientVpcConnections": page, **more}


@operation("kafka", "RejectClientVpcConnection")
def reject_client_vpc_connection(call: Call) -> dict[str, Any]:
    """Reject a connection, as the cluster's owner."""
    cluster, arn = find_own_cluster(call), call.params["VpcConnectionArn"]
    connection = state_of(call.cloud, arn, "vpc-connection").vpc_connections.get(arn)
    if connection is None or connection.cluster_arn != cluster.arn:
        raise AwsError("ForbiddenException", f"{arn} is not a connection to {cluster.arn}")
    connection.state = "REJECTED"
    plug_connections(call.cloud, cluster)
    return {}


def _find_connection(call: Call, arn: str) -> VpcConnection:
    connection = own_state(call).vpc_connections.get(arn)
    if connection is None:
        raise not_found(arn)
    return connection


def _show(connection: VpcConnection) -> dict[str, Any]:
    return {
        "VpcConnectionArn": connection.arn,
        "TargetClusterArn": connection.cluster_arn,
        "State": connection.state,
        "Authentication": connection.authentication,
        "VpcId": connection.vpc_id,
        "Subnets": connection.subnets,
        "ClientSubnets": connection.subnets,
        "SecurityGroups": connection.security_groups,
        "CreationTime": connection.created_at,
        "Tags": connection.tags,
    }
