"""The endpoints of the brokers: accepted by the producer, available in the consumer's VPC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side

_NOT_ACCEPTED = {"pendingAcceptance", "rejected"}
_OVER = {"rejected", "failed", "expired"}


def look_at_acceptance(world: World) -> Iterator[Seen | Break]:
    """Check that the producer has accepted the endpoints that ask for its services."""
    consumer = world.deployment.account_of(Side.CONSUMER)
    answer = world.ask(Side.PRODUCER, "ec2", "describe_vpc_endpoint_connections")
    names = {broker["service_id"]: name for name, broker in list_brokers(world)}
    found = [
        each
        for each in answer["VpcEndpointConnections"]
        if each["ServiceId"] in names and consumer in {"", each["VpcEndpointOwner"]}
    ]
    served = {_use(each) for each in found if each["VpcEndpointState"] == "available"}
    for each in found:
        state, service, endpoint = (
            each[part] for part in ("VpcEndpointState", "ServiceId", "VpcEndpointId")
        )
        if state == "pendingAcceptance" or (state == "rejected" and _use(each) not in served):
            yield Break(
                "endpoint-not-accepted",
                names[service],
                f"endpoint {endpoint} is {state}",
                "available",
                f"aws ec2 accept-vpc-endpoint-connections --service-id {service} "
                f"--vpc-endpoint-ids {endpoint}",
            )
    accepted = sum(each["VpcEndpointState"] not in _NOT_ACCEPTED for each in found)
    yield Seen(f"{accepted} endpoints accepted")


def _use(endpoint: dict[str, Any]) -> tuple[str, str]:
    """Return the service of an endpoint and the account that uses it."""
    return endpoint["ServiceId"], endpoint["VpcEndpointOwner"]


def look_at_endpoints(world: World) -> Iterator[Seen | Break]:
    """Check that each broker has an endpoint that is available."""
    for name, broker in list_brokers(world):
        found = find_endpoint(world, broker)
        if found is None:
            yield Break(
                "endpoint-missing",
                name,
                f"no endpoint for {broker['service_name']}",
                "one in the consumer's VPC",
            )
        elif found["State"] != "available":
            yield Break(
                "endpoint-not-available",
                name,
                f"endpoint {found['VpcEndpointId']} is {found['State']}",
                "available",
                is_symptom=True,
            )
        else:
            yield Seen(f"{name}: {found['VpcEndpointId']} is available")


def list_brokers(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Return the names of the brokers with what the contract says of each."""
    return [(f"b-{number}", broker) for number, broker in world.contract["brokers"].items()]


def find_endpoint(world: World, broker: dict[str, Any]) -> dict[str, Any] | None:
    """Return the endpoint for a broker's service: an available one first, one that is over last."""
    by_service = {"Name": "service-name", "Values": [broker["service_name"]]}
    answer = world.ask(Side.CONSUMER, "ec2", "describe_vpc_endpoints", Filters=[by_service])
    vpc_id = _name_vpc(world)
    found = [
        each
        for each in answer["VpcEndpoints"]
        if each["State"].lower() not in {"deleted", "deleting"} and vpc_id in {"", each["VpcId"]}
    ]

    def rank(endpoint: dict[str, Any]) -> tuple[bool, bool]:
        state = endpoint["State"].lower()
        return state != "available", state in _OVER

    return min(found, key=rank, default=None)


def find_vpc(world: World) -> str:
    """Return the consumer's VPC: that of its root, else that of the endpoints.

    Raises:
        NotSeenError: there is neither.
    """
    if vpc_id := _name_vpc(world):
        return vpc_id
    if world.contract["exposure"] == "privatelink":
        endpoints = [find_endpoint(world, broker) for _, broker in list_brokers(world)]
        for each in filter(None, endpoints):
            return str(each["VpcId"])
    raise NotSeenError("no broker has an endpoint, which would tell the VPC; name --consumer")


def _name_vpc(world: World) -> str:
    outputs = world.deployment.outputs.get(Side.CONSUMER, {})
    return str(outputs.get("platform", {}).get("network", {}).get("vpc_id", ""))
