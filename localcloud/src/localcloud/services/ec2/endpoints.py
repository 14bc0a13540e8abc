"""Interface endpoints: an endpoint service must allow the account.

moto does not connect endpoints and services: there any endpoint is available at once.
"""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.vpcs import AWS_ENDPOINT_SERVICES
from moto.ec2.utils import add_tag_specification, random_resource_id

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.network import inventory
from localcloud.network.principals import allows_account
from localcloud.quotas import INTERFACE_ENDPOINTS, QuotaValues
from localcloud.services.ec2.connection_notifications import notify
from localcloud.services.ec2.endpoint_services import describe_names

# AWS PrivateLink Guide, "AWS services that integrate with AWS PrivateLink"; moto lacks MSK's.
_SERVICES = frozenset({*AWS_ENDPOINT_SERVICES, "kafka"})


def emr_service(region: str) -> str:
    """Return the service through which EMR reaches a cluster of Spark 8.0.0 and later."""
    return f"aws.api.{region}.emr-service-cell01"


@operation("ec2", "CreateVpcEndpoint")
def create_vpc_endpoint(call: Call) -> dict[str, Any] | HttpAnswer:
    """Create an endpoint; an endpoint service must allow the caller's account."""
    if call.params.get("VpcEndpointType") != "Interface":
        return call.forward()
    found = inventory.find_endpoint_service(call.params["ServiceName"])
    if _is_own(call.params["ServiceName"]):
        _check_consumer(call, found)
    else:
        _check_service(call)
    _check_quota(call)
    endpoint = _make_interface_endpoint(call)
    if found:
        owner, service = found
        endpoint.state = "pendingAcceptance" if service.acceptance_required else "available"
        name = f"{endpoint.id}-{random_resource_id(8)}.{service.id}.{owner.region_name}"
        endpoint.dns_entries[0]["dns_name"] = f"{name}.vpce.amazonaws.com"
        notify(call.cloud, owner, service, endpoint, "Connect")
    return {"VpcEndpoint": _describe_endpoint(endpoint)}


def _check_quota(call: Call) -> None:
    """Raise AwsError if the VPC has as many interface endpoints as the account's quota allows."""
    there = ec2_backends[call.account][call.region].vpc_end_points.values()
    count = sum(
        each.vpc_id == call.params["VpcId"]
        and each.vpc_endpoint_type == "Interface"
        and each.state != "deleted"
        for each in there
    )
    if count >= call.cloud.state(QuotaValues).of(call.account, INTERFACE_ENDPOINTS):
        said = "The maximum number of VPC endpoints has been reached."
        raise AwsError("VpcEndpointLimitExceeded", said)


def _describe_endpoint(endpoint: Any) -> dict[str, Any]:
    return {
        "VpcEndpointId": endpoint.id,
        "VpcEndpointType": endpoint.vpc_endpoint_type,
        "VpcId": endpoint.vpc_id,
        "OwnerId": endpoint.owner_id,
        "ServiceName": endpoint.service_name,
        "State": endpoint.state,
        "PolicyDocument": endpoint.policy_document,
        "PrivateDnsEnabled": endpoint.private_dns_enabled,
        "SubnetIds": endpoint.subnet_ids,
        "NetworkInterfaceIds": endpoint.network_interface_ids,
        "Groups": endpoint.groups,
        "DnsEntries": describe_names(endpoint),
        "CreationTimestamp": endpoint.creation_timestamp,
        "Tags": endpoint.get_tags(),
    }


def _make_interface_endpoint(call: Call) -> Any:
    params = call.params
    ec2 = ec2_backends[call.account][call.region]
    vpc_id = params["VpcId"]
    ec2.get_vpc(vpc_id)
    default = [it.id for it in ec2.groups[vpc_id].values() if it.name == "default"]
    return ec2.create_vpc_endpoint(
        vpc_id=vpc_id,
        service_name=params["ServiceName"],
        endpoint_type="Interface",
        policy_document=params.get("PolicyDocument"),
        route_table_ids=[],
        subnet_ids=params.get("SubnetIds", []),
        client_token=params.get("ClientToken"),
        security_group_ids=params.get("SecurityGroupIds") or default,
        tags=add_tag_specification(params.get("TagSpecifications", [])),
        private_dns_enabled=params.get("PrivateDnsEnabled", not _is_own(params["ServiceName"])),
    )


def _is_own(service_name: str) -> bool:
    """Return whether it is a customer's endpoint service, not one of AWS's."""
    return ".vpce-svc-" in service_name


def _check_service(call: Call) -> None:
    """Refuse a service that AWS does not have, and a second endpoint for the same private name."""
    name, vpc_id = call.params["ServiceName"], call.params["VpcId"]
    prefix = f"com.amazonaws.{call.region}."
    end = name.removeprefix(prefix)
    known = (name.startswith(prefix) and end in _SERVICES) or name == emr_service(call.region)
    if not known:
        raise AwsError("InvalidServiceName", f"The Vpc Endpoint Service '{name}' does not exist")
    if not call.params.get("PrivateDnsEnabled", True):
        return
    vpc = ec2_backends[call.account][call.region].get_vpc(vpc_id)
    if not inventory.resolves_private_names(vpc):
        raise AwsError(
            "InvalidParameter",
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC "
            f"attributes set to true for {vpc_id}",
        )
    for endpoint in inventory.endpoints(ec2_backends[call.account][call.region], vpc_id):
        if (
            endpoint.service_name == name
            and inventory.is_interface(endpoint)
            and endpoint.private_dns_enabled
        ):
            raise AwsError(
                "InvalidParameter",
                "private-dns-enabled cannot be set because there is already a conflicting DNS "
                f"domain for {end}.{call.region}.amazonaws.com in the VPC {vpc_id}",
            )


def _check_consumer(call: Call, found: tuple[Any, Any] | None) -> None:
    name = call.params["ServiceName"]
    if found is None or not allows_account(found[0].account_id, found[1].principals, call.account):
        raise AwsError("InvalidServiceName", f"The Vpc Endpoint Service '{name}' does not exist")
    if call.params.get("PrivateDnsEnabled"):
        raise AwsError(
            "InvalidParameter",
            f"Private DNS can't be enabled because the service {name} does not provide a private "
            "DNS name.",
        )
    ec2 = ec2_backends[call.account][call.region]
    zones = _zone_ids(found[0], found[1])
    for subnet_id in call.params.get("SubnetIds", []):
        if ec2.get_subnet(subnet_id).availability_zone_id not in zones:
            raise AwsError(
                "InvalidParameter",
                f"The VPC endpoint service {name} does not support the availability zone of the "
                f"subnet: {subnet_id}.",
            )


def _zone_ids(owner: Any, service: Any) -> set[str]:
    balancers = (
        inventory.find_load_balancer(owner.account_id, owner.region_name, arn)
        for arn in service.network_load_balancer_arns
    )
    return {
        subnet.availability_zone_id
        for balancer in balancers
        if balancer is not None
        for subnet in balancer.subnets
    }
