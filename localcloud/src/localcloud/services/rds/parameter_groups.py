"""Changes of parameter groups; the groups are moto's."""

from __future__ import annotations

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.rds.lifecycle import Databases, reload
from localcloud.services.rds.parameters import check_parameter


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
