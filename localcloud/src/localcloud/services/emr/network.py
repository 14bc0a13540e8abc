"""The checks of a cluster's network: those that EMR makes, and those that a start depends on.

EMR Management Guide, "Amazon VPC options when you launch a cluster", "Working with Amazon
EMR-managed security groups", "Sample policies for private subnets that access Amazon S3". EMR would
find the last two only when a cluster does not come up.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from moto.ec2.models import ec2_backends

from localcloud.errors import MissingHopError
from localcloud.identity.permissions import may
from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)
from localcloud.network import find_source, require_service, use_endpoint
from localcloud.network._firewall import Party, lets_in, lets_out
from localcloud.services.ec2.endpoints import emr_service
from localcloud.services.emr.model import Cluster, ValidationFailedError
from localcloud.services.emr.releases import network_rules

_ACCESS_PORTS = {"endpoint": 443, "ports": 9443}
_HTTPS = 443
_EMR = "elasticmapreduce"  # the owner of EMR's buckets, as no account


def check_network(cluster: Cluster, service_role: str) -> None:
    """Check the subnet, the security groups, the endpoints, and the way to EMR's buckets.

    Raises:
        ValidationFailedError: the cluster cannot start; the message is EMR's, or says what is
            missing.
    """
    backend = ec2_backends[cluster.account][cluster.region]
    asked = cluster.asked["Instances"]
    for subnet in cluster.place.subnets:
        if not any(subnet in found for found in backend.subnets.values()):
            raise ValidationFailedError(f"The subnet '{subnet}' does not exist")
    managed, access = asked.get("EmrManagedMasterSecurityGroup"), access_group(cluster)
    for group in filter(None, (managed, asked.get("EmrManagedSlaveSecurityGroup"), access)):
        if backend.get_security_group_from_id(group) is None:
            raise ValidationFailedError(f"The security group '{group}' does not exist")
    if not cluster.place.subnets or not managed:
        return
    if access is None:
        raise ValidationFailedError(
            "You must also specify a ServiceAccessSecurityGroup if you use custom security groups "
            "when creating a cluster in a private subnet."
        )
    _check_access(cluster, managed, access)
    try:
        if network_rules(cluster.release) == "endpoint":
            _check_endpoint(cluster, service_role)
        _check_buckets(cluster)
    except MissingHopError as error:
        raise ValidationFailedError(str(error)) from error


def access_group(cluster: Cluster) -> str | None:
    """Return the security group of EMR's own access, None if the request has none."""
    found: str | None = cluster.asked["Instances"].get("ServiceAccessSecurityGroup")
    return found


def _check_access(cluster: Cluster, managed: str, access: str) -> None:
    """Check the rules between the nodes and the access of the service, which the caller makes."""
    rules = network_rules(cluster.release)
    port = _ACCESS_PORTS[rules]
    backend = ec2_backends[cluster.account][cluster.region]
    nodes, service = (backend.get_security_group_from_id(each) for each in (managed, access))
    subnets = [
        found[each]
        for found in backend.subnets.values()
        for each in cluster.place.subnets
        if each in found
    ]
    networks = tuple(IPv4Network(subnet.cidr_block) for subnet in subnets)
    if not lets_in([service], Party("nodes", (managed,), networks), port):
        raise ValidationFailedError(
            "ServiceAccessSecurityGroup is missing ingress rule from EmrManagedMasterSecurityGroup "
            f"on port {port}"
        )
    if rules == "endpoint" and not lets_out([nodes], Party("access", (access,), networks), port):
        raise ValidationFailedError(
            "EmrManagedMasterSecurityGroup is missing egress rule to ServiceAccessSecurityGroup "
            f"on port {port}, which EMR does not add to a custom group"
        )


def _check_endpoint(cluster: Cluster, service_role: str) -> None:
    name = emr_service(cluster.region)
    source = find_source(cluster.place.subnets, cluster.place.groups)
    assert source is not None  # noqa: S101 - there are subnets
    if use_endpoint(source, name) is not None:
        return
    tags = {f"aws:RequestTag/{key}": value for key, value in cluster.tags.items()}
    own = {f"aws:ResourceTag/{key}": value for key, value in cluster.tags.items()}
    arn = f"arn:aws:ec2:{cluster.region}:{cluster.account}:vpc-endpoint/vpce-1"
    rights = (("ec2:CreateVpcEndpoint", tags), ("ec2:ModifyVpcEndpoint", own))
    lacking = [action for action, context in rights if not may(service_role, action, arn, context)]
    if lacking:
        raise ValidationFailedError(
            f"{source.vpc_id} has no endpoint for {name}, and the service role {service_role} "
            f"lacks {', '.join(lacking)} to make one"
        )


def _check_buckets(cluster: Cluster) -> None:
    """Check that the policy of the endpoint for S3 lets nodes read and write EMR's buckets."""
    source = find_source(cluster.place.subnets, cluster.place.groups)
    assert source is not None  # noqa: S101 - there are subnets
    use = require_service(source, "s3", cluster.region)
    role = cluster.place.role_arn
    context: dict[str, Any] = {
        "aws:PrincipalAccount": cluster.account,
        "aws:PrincipalArn": role,
        "aws:ResourceAccount": _EMR,
    }
    for action, bucket in _list_buckets(cluster):
        request = Request(action, f"arn:aws:s3:::{bucket}/object", context)
        verdict = judge_resource(
            read_statements(use.policy), request, Principal(cluster.account, role)
        )
        if use.policy and verdict is not Verdict.ALLOWED:
            raise ValidationFailedError(
                f"the policy of the endpoint {use.endpoint_id} does not allow {action} on the "
                f"bucket {bucket}, which {cluster.release} needs"
            )


def _list_buckets(cluster: Cluster) -> Iterator[tuple[str, str]]:
    region = cluster.region
    yield "s3:GetObject", f"al2023-repos-{region}-de612dc2"
    yield "s3:GetObject", f"repo.{region}.emr.amazonaws.com"
    if network_rules(cluster.release) == "endpoint":
        middle = "-bucket" if region == "ap-southeast-2" else ""
        for number in (0, 1):
            yield "s3:GetObject", f"aws157-instance-data{middle}-{number}-prod-{region}"
    if cluster.log_uri:
        end = "" if region == "us-east-1" else f"-{region}"
        yield "s3:PutObject", f"aws157-logs-prod{end}"
