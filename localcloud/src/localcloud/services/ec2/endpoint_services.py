"""Endpoint services: allowed principals and the acceptance of endpoints."""

from __future__ import annotations

import hashlib
from typing import Any

from moto.ec2.models import ec2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.network import inventory
from localcloud.network.principals import account_of
from localcloud.services.ec2.connection_notifications import notify


@operation("ec2", "AcceptVpcEndpointConnections")
def accept_vpc_endpoint_connections(call: Call) -> dict[str, Any]:
    """Accept pending endpoints of the caller's service."""
    return _decide_on_endpoints(call, {"pendingAcceptance", "rejected"}, "available", "Accept")


@operation("ec2", "RejectVpcEndpointConnections")
def reject_vpc_endpoint_connections(call: Call) -> dict[str, Any]:
    """Reject endpoints, including accepted ones."""
    return _decide_on_endpoints(call, {"pendingAcceptance", "available"}, "rejected", "Reject")


def _decide_on_endpoints(call: Call, before: set[str], after: str, event: str) -> dict[str, Any]:
    service = _own_service(call, call.params["ServiceId"])
    connected = {it.id: it for it in _endpoints_of(service)}
    failed = []
    for endpoint_id in call.params["VpcEndpointIds"]:
        endpoint = connected.get(endpoint_id)
        if endpoint is None:
            code = "InvalidVpcEndpointId.NotFound"
            text = f"The Vpc Endpoint Id '{endpoint_id}' does not exist"
        elif endpoint.state not in before:
            code = "InvalidState"
            text = f"The Vpc Endpoint '{endpoint_id}' is {endpoint.state}"
        else:
            endpoint.state = after
            notify(call.cloud, ec2_backends[call.account][call.region], service, endpoint, event)
            continue
        failed.append({"ResourceId": endpoint_id, "Error": {"Code": code, "Message": text}})
    return {"Unsuccessful": failed}


@operation("ec2", "DescribeVpcEndpointConnections")
def describe_vpc_endpoint_connections(call: Call) -> dict[str, Any]:
    """List the endpoints of any account for the caller's services."""
    wanted = {it["Name"]: it["Values"] for it in call.params.get("Filters", [])}
    connections = [
        {
            "ServiceId": service.id,
            "VpcEndpointId": endpoint.id,
            "VpcEndpointOwner": endpoint.owner_id,
            "VpcEndpointState": endpoint.state,
            "CreationTimestamp": endpoint.creation_timestamp,
            "DnsEntries": describe_names(endpoint),
            "NetworkLoadBalancerArns": service.network_load_balancer_arns,
        }
        for service in list(ec2_backends[call.account][call.region].configurations.values())
        for endpoint in _endpoints_of(service)
    ]
    return {
        "VpcEndpointConnections": [it for it in connections if _passes_filters(it, wanted)],
    }


_FILTERS = {
    "service-id": "ServiceId",
    "vpc-endpoint-id": "VpcEndpointId",
    "vpc-endpoint-owner": "VpcEndpointOwner",
    "vpc-endpoint-state": "VpcEndpointState",
}


def _passes_filters(connection: dict[str, Any], wanted: dict[str, list[str]]) -> bool:
    for name, values in wanted.items():
        if name not in _FILTERS:
            raise AwsError("InvalidFilter", f"The filter '{name}' is invalid")
        if connection[_FILTERS[name]] not in values:
            return False
    return True


@operation("ec2", "DeleteVpcEndpointServiceConfigurations")
def delete_vpc_endpoint_service_configurations(call: Call) -> dict[str, Any] | HttpAnswer:
    """Delete services, but none with a connected endpoint."""
    for service_id in call.params["ServiceIds"]:
        service = ec2_backends[call.account][call.region].configurations.get(service_id)
        if service and any(it.state != "rejected" for it in _endpoints_of(service)):
            text = f"Service {service_id} has existing active VPC Endpoint connections!"
            error = {"Code": "ExistingVpcEndpointConnections", "Message": text}
            return {"Unsuccessful": [{"ResourceId": service_id, "Error": error}]}
    return call.forward()


@operation("ec2", "ModifyVpcEndpointServicePermissions")
def modify_vpc_endpoint_service_permissions(call: Call) -> dict[str, Any]:
    """Change the allowed principals; return the added ones with an id each, for the provider."""
    service = _own_service(call, call.params["ServiceId"])
    added = call.params.get("AddAllowedPrincipals", [])
    for principal in added:
        if principal != "*" and account_of(principal) is None:
            raise AwsError("InvalidPrincipal", f"Invalid Principal: {principal}")
    removed = call.params.get("RemoveAllowedPrincipals", [])
    kept = [it for it in service.principals if it not in removed]
    service.principals = list(dict.fromkeys([*kept, *added]))
    return {
        "AddedPrincipals": [_describe_principal(service, it) for it in added],
        "ReturnValue": True,
    }


@operation("ec2", "DescribeVpcEndpointServicePermissions")
def describe_vpc_endpoint_service_permissions(call: Call) -> dict[str, Any]:
    """List the allowed principals, with the same ids as when they were added."""
    service = _own_service(call, call.params["ServiceId"])
    return {"AllowedPrincipals": [_describe_principal(service, it) for it in service.principals]}


def _describe_principal(service: Any, principal: str) -> dict[str, Any]:
    kind = "All" if principal == "*" else principal.rsplit(":", maxsplit=1)[-1].partition("/")[0]
    digest = hashlib.sha256(f"{service.id} {principal}".encode()).hexdigest()
    return {
        "Principal": principal,
        "PrincipalType": {"root": "Account", "role": "Role", "user": "User"}.get(kind, kind),
        "ServiceId": service.id,
        "ServicePermissionId": f"vpce-svc-perm-0{digest[:16]}",
        "Tags": [],
    }


def _own_service(call: Call, service_id: str) -> Any:
    service = ec2_backends[call.account][call.region].configurations.get(service_id)
    if service is None:
        raise AwsError(
            "InvalidVpcEndpointServiceId.NotFound",
            f"The VpcEndpointService Id '{service_id}' does not exist",
        )
    return service


def _endpoints_of(service: Any) -> list[Any]:
    return [
        endpoint
        for ec2 in inventory.regions_of_ec2()
        for endpoint in list(ec2.vpc_end_points.values())
        if endpoint.service_name == service.service_name and endpoint.state != "deleted"
    ]


def describe_names(endpoint: Any) -> list[dict[str, str]]:
    """Return the DNS names of an endpoint as boto3 shows them."""
    return [
        {"DnsName": entry["dns_name"], "HostedZoneId": entry["hosted_zone_id"]}
        for entry in endpoint.dns_entries
    ]
