"""Work groups that have queries: Athena deletes them only with all they have, and moto does."""

from __future__ import annotations

from moto.athena.models import athena_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.athena.iam_resources import QueryGroups
from localcloud.services.athena.model import INVALID, Executions


@operation("athena", "DeleteWorkGroup")
def delete_work_group(call: Call) -> HttpAnswer:
    """Delete a work group without queries, saved or asked, or with all of them if told to."""
    name, backend = call.params["WorkGroup"], athena_backends[call.account][call.region]
    if name == "primary":
        raise AwsError(INVALID, "The primary workgroup cannot be deleted.")
    executions = call.cloud.state(Executions, call.account, call.region).by_id
    asked = [one for one, each in list(executions.items()) if each.settings.group == name]
    queries = backend.named_queries
    saved = [one for one, each in list(queries.items()) if each.workgroup.name == name]
    if (asked or saved) and not call.params.get("RecursiveDeleteOption"):
        raise AwsError(INVALID, f"WorkGroup {name} is not empty")
    groups = call.cloud.state(QueryGroups, call.account, call.region)
    for one in asked:
        del executions[one], groups[one]
    for one in saved:
        del queries[one]
    return call.forward()
