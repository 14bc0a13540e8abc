"""Subnet groups that instances use: RDS keeps them, with the subnets of the instances."""

from __future__ import annotations

from moto.ec2.models import ec2_backends
from moto.rds.models import rds_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.rds.lifecycle import Databases


@operation("rds", "DeleteDBSubnetGroup")
def delete_db_subnet_group(call: Call) -> HttpAnswer:
    """Delete a group that no instance uses."""
    name = call.params["DBSubnetGroupName"]
    for instance in _list_members(call, name):
        said = f"Cannot delete the subnet group '{name}' because at least one database instance"
        raise AwsError("InvalidDBSubnetGroupStateFault", f"{said}: {instance} is still using it.")
    return call.forward()


@operation("rds", "ModifyDBSubnetGroup")
def modify_db_subnet_group(call: Call) -> HttpAnswer:
    """Let moto change a group that keeps the subnets of its instances, and keep the group."""
    name, kept = call.params["DBSubnetGroupName"], set(call.params["SubnetIds"])
    groups = rds_backends[call.account][call.region].subnet_groups
    group = groups.get(name)
    if group is None:
        raise AwsError("DBSubnetGroupNotFoundFault", f"Subnet Group {name} not found.", status=404)
    used = _list_members(call, name).values()
    if lost := sorted(set(used) - kept):
        said = f"Some of the subnets to be deleted are currently in use: {', '.join(lost)}"
        raise AwsError("SubnetAlreadyInUse", said)
    try:
        return call.forward()
    finally:
        groups[name] = group  # moto takes it out


def _list_members(call: Call, group: str) -> dict[str, str]:
    """Return the subnets of the instances of a group, by the names of the instances."""
    found = rds_backends[call.account][call.region].subnet_groups.get(group)
    enis = ec2_backends[call.account][call.region].enis
    databases = call.cloud.state(Databases, call.account, call.region)
    return {
        name: enis[database.interface_id].subnet.id
        for name, database in list(databases.items())
        if found is not None and getattr(database.instance, "db_subnet_group", None) is found
    }
