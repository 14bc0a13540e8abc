"""How calls of Athena name their resources for IAM: by the work group."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.identity.access import Access, arn_of

_PRIMARY = frozenset(  # without a work group these mean the group `primary`
    {"CreateNamedQuery", "ListNamedQueries", "ListQueryExecutions", "StartQueryExecution"}
)


class QueryGroups(dict[str, str]):
    """The work group of each Athena query, by its id: calls about a query do not name the group."""


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the work groups of a call."""
    params = call.params
    groups = call.cloud.state(QueryGroups, call.account, call.region)
    ids = params.get("QueryExecutionIds") or [params.get("QueryExecutionId")]
    if ids != [None]:  # an unknown query is in no group that a policy could allow
        for group in dict.fromkeys(groups.get(each) for each in ids):
            yield Access(action, arn_of(call, group, "workgroup/{}") if group else "*")
    elif arn := params.get("ResourceARN"):
        yield Access(action, arn)
    elif call.operation.endswith("WorkGroup"):
        name = params.get("WorkGroup") or params["Name"]
        yield Access(action, arn_of(call, name, "workgroup/{}"))
    elif "WorkGroup" in params or call.operation in _PRIMARY:
        yield Access(action, arn_of(call, params.get("WorkGroup", "primary"), "workgroup/{}"))
    else:
        yield Access(action, None)
