"""Changes and deletion of parameter groups; the groups are moto's."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.door.pages import Pages
from localcloud.services.rds.lifecycle import Database, Databases, reload
from localcloud.services.rds.parameters import (
    check_parameter,
    describe_parameters,
    find_group,
)

_PAGES = Pages("Marker", "MaxRecords", 100, "InvalidParameterValue")


@operation("rds", "DescribeDBParameters")
def describe_db_parameters(call: Call) -> dict[str, Any]:
    """List the parameters of a group, in pages, of one source or of all."""
    name = call.params["DBParameterGroupName"]
    group = find_group(call.account, call.region, name)
    if group is None:
        raise AwsError("DBParameterGroupNotFound", f"DBParameterGroup not found: {name}")
    wanted = call.params.get("Source")
    found = [each for each in describe_parameters(group) if wanted in {None, each["Source"]}]
    page, more = _PAGES.cut(call, found)
    return {"Parameters": page, **more}


@operation("rds", "ModifyDBParameterGroup")
def modify_db_parameter_group(call: Call) -> HttpAnswer:
    """Check the parameters and let moto keep them; those for which it is said apply at once."""
    for given in call.params["Parameters"]:
        check_parameter(given["ParameterName"], given.get("ApplyMethod", "immediate"))
    answer = call.forward()
    for database in _list_members(call):
        reload(database)
    return answer


@operation("rds", "DeleteDBParameterGroup")
def delete_db_parameter_group(call: Call) -> HttpAnswer:
    """Delete a group that no instance has."""
    if _list_members(call):
        said = "One or more database instances are still members of this parameter group"
        name = call.params["DBParameterGroupName"]
        raise AwsError(
            "InvalidDBParameterGroupState", f"{said} {name}, so the group cannot be deleted"
        )
    return call.forward()


def _list_members(call: Call) -> list[Database]:
    """Return the instances of the parameter group that a call names."""
    name = call.params["DBParameterGroupName"]
    databases = list(call.cloud.state(Databases, call.account, call.region).values())
    return [each for each in databases if each.instance.db_parameter_group_name == name]
