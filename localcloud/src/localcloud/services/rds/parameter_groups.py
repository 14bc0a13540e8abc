"""Changes of parameter groups; the groups are moto's."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.door.pages import Pages
from localcloud.services.rds.lifecycle import Databases, reload
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
    """Check the parameters and let moto keep them; dynamic ones apply at once."""
    for given in call.params["Parameters"]:
        check_parameter(given["ParameterName"], given.get("ApplyMethod", "immediate"))
    answer = call.forward()
    name = call.params["DBParameterGroupName"]
    for database in list(call.cloud.state(Databases, call.account, call.region).values()):
        if database.instance.db_parameter_group_name == name:
            reload(database)
    return answer
