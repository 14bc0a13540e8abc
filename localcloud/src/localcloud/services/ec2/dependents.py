"""Subnets and security groups that something uses: EC2 refuses to delete them, and moto does not.

API Reference, DeleteSubnet: "you must terminate all running instances in the subnet before you can
delete the subnet"; DeleteSecurityGroup: a group that is associated with an instance or network
interface, or referenced by another group in the same VPC, is refused with DependencyViolation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.ec2.models import ec2_backends
from moto.elbv2.models import elbv2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.moto_repairs import read_vpc_config
from localcloud.services.ec2.managed_interfaces import Use, list_managed_uses

_GONE = ("shutting-down", "terminated")


@operation("ec2", "DeleteSubnet")
def delete_subnet(call: Call) -> HttpAnswer:
    """Delete a subnet that has no interfaces."""
    subnet = call.params["SubnetId"]
    if any(subnet in use.subnets for use in _list_uses(call)):
        raise AwsError(
            "DependencyViolation",
            f"The subnet '{subnet}' has dependencies and cannot be deleted.",
        )
    return call.forward()


@operation("ec2", "DeleteSecurityGroup")
def delete_security_group(call: Call) -> HttpAnswer:
    """Delete a group that no interface has and no rule of another group names.

    One of the default VPC that is given by its name is not looked at.
    """
    group = call.params.get("GroupId")
    if group and any(group in use.groups for use in (*_list_uses(call), *_list_rules(call, group))):
        raise AwsError("DependencyViolation", f"resource {group} has a dependent object")
    return call.forward()


def _list_uses(call: Call) -> Iterator[Use]:
    """Yield the uses of all that has interfaces in the account, each once."""
    ec2 = ec2_backends[call.account][call.region]
    endpoints: list[Any] = [
        each
        for each in list(ec2.vpc_end_points.values())
        if each.subnet_ids and each.state != "deleted"
    ]
    # moto keeps those of subnets that an endpoint has left.
    of_endpoints = {one for each in endpoints for one in each.network_interface_ids}
    for each in endpoints:
        yield Use(set(each.subnet_ids), set(each.security_group_ids or ()))
    for interface in list(ec2.enis.values()):
        if interface.id not in of_endpoints and not interface.instance:
            yield Use({interface.subnet.id}, {each.id for each in interface.group_set})
    for reservation in list(ec2.reservations.values()):
        for instance in reservation.instances:
            if instance.state not in _GONE:
                yield Use(
                    {instance.subnet_id or ""}, {each.id for each in instance.security_groups}
                )
    functions = lambda_backends[call.account][call.region]
    for function in list(functions.list_functions()):
        for version in functions.list_versions_by_function(function.function_name):
            network = read_vpc_config(version)
            names = ("SubnetIds", "SecurityGroupIds")
            yield Use(*(set(network.get(name) or ()) for name in names))
    for balancer in list(elbv2_backends[call.account][call.region].load_balancers.values()):
        groups = set(balancer.security_groups or ())
        yield Use({each.id for each in balancer.subnets}, groups)
    yield from list_managed_uses(call)


def _list_rules(call: Call, group: str) -> Iterator[Use]:
    """Yield the groups that rules of other groups of its VPC name; those of others become stale."""
    for groups in list(ec2_backends[call.account][call.region].groups.values()):
        for each in list(groups.values()):
            if group in groups and each.id != group:
                rules = [*each.ingress_rules, *each.egress_rules]
                yield Use(set(), {rule.source_group.get("GroupId", "") for rule in rules})
