"""Network load balancers where moto differs from AWS: their ARN, their security groups."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from moto.ec2.models import ec2_backends
from moto.elbv2.models import elbv2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.moto_repairs import load_balancer_kind
from localcloud.network import inventory
from localcloud.network.nodes import Nodes

_PROBE_SECONDS = 0.5


@operation("elbv2", "CreateLoadBalancer")
def create_load_balancer(call: Call) -> HttpAnswer:
    """Create a load balancer with its kind in the ARN."""
    if call.params["Name"].startswith("internal-"):  # API Reference, CreateLoadBalancer
        raise AwsError("ValidationError", "Load balancer name cannot begin with 'internal-'")
    token = load_balancer_kind.set("net" if call.params.get("Type") == "network" else "app")
    try:
        return call.forward()
    finally:
        load_balancer_kind.reset(token)


@operation("elbv2", "DeleteLoadBalancer")
def delete_load_balancer(call: Call) -> HttpAnswer:
    """Delete a load balancer that no endpoint service has."""
    arn, ec2 = call.params["LoadBalancerArn"], ec2_backends[call.account][call.region]
    services = list(ec2.configurations.values())
    if any(arn in each.network_load_balancer_arns for each in services):
        said = "cannot be deleted because it is currently associated with another service"
        raise AwsError("ResourceInUse", f"Load balancer '{arn}' {said}")
    return call.forward()


@operation("elbv2", "SetSecurityGroups")
def set_security_groups(call: Call) -> dict[str, Any] | HttpAnswer:
    """Set security groups, and whether they apply to PrivateLink traffic."""
    arn, groups = call.params["LoadBalancerArn"], call.params["SecurityGroups"]
    balancer = inventory.find_load_balancer(call.account, call.region, arn)
    if balancer is None or balancer.type != "network":
        return call.forward()
    if groups and not balancer.security_groups:
        raise AwsError(
            "InvalidConfigurationRequest",
            f"You cannot set security groups on load balancer '{arn}': it was created without",
        )
    backend = elbv2_backends[call.account][call.region]
    backend.set_security_groups(arn, groups)
    enforce = call.params.get("EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic", "on")
    balancer.enforce_security_group_inbound_rules_on_private_link_traffic = enforce
    return {
        "SecurityGroupIds": groups,
        "EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic": enforce,
    }


@operation("elbv2", "DescribeTargetHealth")
def describe_target_health(call: Call) -> dict[str, Any] | HttpAnswer:
    """Describe the targets: one is healthy if its server accepts a connection."""
    arn = call.params["TargetGroupArn"]
    group = inventory.find_target_group(call.account, call.region, arn)
    wanted = {target["Id"] for target in call.params.get("Targets", [])}
    if group is None or group.target_type != "ip" or not wanted <= group.targets.keys():
        return call.forward()
    ec2 = ec2_backends[call.account][call.region]
    nodes = call.cloud.state(Nodes)
    return {
        "TargetHealthDescriptions": [
            {
                "Target": {"Id": target["Id"], "Port": int(target["Port"])},
                "HealthCheckPort": str(target["Port"]),
                "TargetHealth": _check_health(ec2, nodes, group, target),
            }
            for target in list(group.targets.values())
            if not wanted or target["Id"] in wanted
        ]
    }


def _check_health(ec2: Any, nodes: Nodes, group: Any, target: dict[str, Any]) -> dict[str, str]:
    interface = inventory.interface_with_address(ec2, group.vpc_id, target["Id"])
    node = interface and nodes.behind(interface.id)
    if node is not None:
        address = (node.address, int(target["Port"]))
        with (
            contextlib.suppress(OSError),
            socket.create_connection(address, timeout=_PROBE_SECONDS),
        ):
            return {"State": "healthy"}
    return {
        "State": "unhealthy",
        "Reason": "Target.FailedHealthChecks",
        "Description": "Health checks failed",
    }
