"""Route 53's private zones: created with a VPC, they are private and answer only in that VPC."""

from __future__ import annotations

import threading
from typing import Any, Final

from moto.route53.models import route53_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.network import inventory
from localcloud.services.route53.changes import describe_change, forward

_CHANGING: Final = threading.Lock()


@operation("route53", "CreateHostedZone")
def create_hosted_zone(call: Call) -> dict[str, Any] | HttpAnswer:
    """Create a zone; with a VPC but without PrivateZone moto would create a public one."""
    vpc = call.params.get("VPC")
    if not vpc:
        return forward(call)
    name = inventory.plain_name(call.params["Name"])
    _check_vpc(call, vpc["VPCId"])
    _check_conflict(vpc["VPCId"], name)
    route53 = route53_backends[call.account]["aws"]
    zone = route53.create_hosted_zone(
        f"{name}.",
        comment=call.params.get("HostedZoneConfig", {}).get("Comment"),
        private_zone=True,
        caller_reference=call.params["CallerReference"],
        vpcid=vpc["VPCId"],
        vpcregion=vpc["VPCRegion"],
    )
    return {
        "HostedZone": {
            "Id": zone.id,
            "Name": zone.name,
            "CallerReference": zone.caller_reference,
            "Config": {"Comment": zone.comment or "", "PrivateZone": True},
            "ResourceRecordSetCount": len(zone.rrsets),
        },
        "ChangeInfo": describe_change(call),
        "VPC": vpc,
        "Location": f"https://route53.amazonaws.com/2013-04-01/hostedzone/{zone.resource_id}",
    }


@operation("route53", "AssociateVPCWithHostedZone")
def associate_vpc_with_hosted_zone(call: Call) -> HttpAnswer:
    """Associate a private zone with another VPC of the caller."""
    vpc_id = call.params["VPC"]["VPCId"]
    _check_vpc(call, vpc_id)
    zone = route53_backends[call.account]["aws"].zones.get(call.params["HostedZoneId"])
    if zone is not None:
        _check_conflict(vpc_id, inventory.plain_name(zone.name))
    return forward(call)


@operation("route53", "ChangeResourceRecordSets")
def change_resource_record_sets(call: Call) -> HttpAnswer:
    """Change records; remove moto's notes of deleted ones, which would block them later.

    Without the lock the note of a record that is made meanwhile was removed too, and then moto did
    not delete the record.
    """
    with _CHANGING:
        answer = forward(call)
        zone = route53_backends[call.account]["aws"].zones.get(call.params["HostedZoneId"])
        if answer.status < 300 and zone is not None:
            there = {(inventory.plain_name(one.name), one.type) for one in zone.rrsets}
            zone.rr_changes[:] = [it for it in zone.rr_changes if _key(it) in there]
    return answer


@operation("route53", "DeleteHostedZone")
@operation("route53", "DisassociateVPCFromHostedZone")
def delete_or_disassociate(call: Call) -> HttpAnswer:
    """Delete a zone, or end its association with a VPC."""
    return forward(call)


def _key(change: dict[str, Any]) -> tuple[str, str]:
    record = change["ResourceRecordSet"]
    return inventory.plain_name(record["Name"]), record["Type"]


def _check_vpc(call: Call, vpc_id: str) -> None:
    found = inventory.find_vpc(vpc_id)
    if found is None or found[0].account_id != call.account:
        raise AwsError(
            "InvalidVPCId",
            f"The VPC {vpc_id} does not exist in account {call.account}",
            status=400,
        )


def _check_conflict(vpc_id: str, name: str) -> None:
    for zone in inventory.private_zones(vpc_id):
        if inventory.plain_name(zone.name) == name:
            raise AwsError(
                "ConflictingDomainExists",
                f"The VPC {vpc_id} is already associated with hosted zone {zone.resource_id} of "
                f"the name {name}",
                status=400,
            )
