"""The operations on query executions."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.constraints import check_params
from localcloud.door.control import describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.queries import Query, QueryState, StatementKind
from localcloud.services.athena.iam_resources import QueryGroups
from localcloud.services.athena.model import (
    INVALID,
    Execution,
    Executions,
    find_execution,
    find_settings,
)
from localcloud.services.athena.runner import RunningQueries, check_output

_PAGES = Pages("NextToken", "MaxResults", 50, INVALID)
_STOP_SECONDS = 5
_CATALOGS = ("awsdatacatalog",)


@operation("athena", "StartQueryExecution")
def start_query_execution(call: Call) -> dict[str, Any]:
    """Start a query; the same token starts it once. A statement it cannot run is refused."""
    check_params(call, INVALID)
    params, held = call.params, call.cloud.state(Executions, call.account, call.region)
    known = _find_by_token(params, held)
    if known is not None:
        return {"QueryExecutionId": known.query.id}
    settings, context = find_settings(call), params.get("QueryExecutionContext", {})
    if context.get("Catalog", "AwsDataCatalog").lower() not in _CATALOGS:
        raise AwsError(INVALID, f"Catalog {context['Catalog']} is not supported")
    sql = params["QueryString"].rstrip().rstrip(";")
    database = context.get("Database", "default")
    query = Query(
        id=str(uuid.uuid4()),
        sql=sql,
        database=database,
        kind=_find_kind(sql, database),
        output=settings.output["OutputLocation"].rstrip("/"),
        output_is_enforced=settings.output_is_enforced,
        parameters=tuple(params.get("ExecutionParameters", ())),
    )
    check_output(call.cloud, call.caller, settings.output["OutputLocation"])
    execution = Execution(query, settings, params)
    held.by_id[query.id] = execution
    call.cloud.state(QueryGroups, call.account, call.region)[query.id] = settings.group
    call.cloud.state(RunningQueries).start(call.cloud, call.caller, execution)
    return {"QueryExecutionId": query.id}


@describe("queries")
def describe_queries(cloud: Cloud) -> list[dict[str, Any]]:
    """List the queries that run."""
    return [
        {"account": account, "region": region, "id": query_id, "state": execution.query.state}
        for account, region, held in cloud.states(Executions)
        for query_id, execution in list(held.by_id.items())
        if not execution.query.state.final
    ]


def _find_by_token(params: dict[str, Any], held: Executions) -> Execution | None:
    token = params.get("ClientRequestToken")
    for known in held.by_id.values():
        if token and known.asked_with.get("ClientRequestToken") == token:
            if known.asked_with != params:
                raise AwsError(INVALID, "Idempotent parameters do not match")
            return known
    return None


def _find_kind(sql: str, database: str) -> StatementKind:
    # The import loads sqlglot, which only callers of this need.
    from localcloud.queries.statement import StatementError, read_statement  # noqa: PLC0415

    try:
        return read_statement(sql, database).kind
    except StatementError as error:
        raise AwsError(INVALID, str(error)) from error


@operation("athena", "GetQueryExecution")
def get_query_execution(call: Call) -> dict[str, Any]:
    """Describe a query."""
    return {"QueryExecution": _show(find_execution(call, call.params["QueryExecutionId"]))}


@operation("athena", "BatchGetQueryExecution")
def batch_get_query_execution(call: Call) -> dict[str, Any]:
    """Describe several queries, and list the unknown ones."""
    held = call.cloud.state(Executions, call.account, call.region).by_id
    wanted = call.params["QueryExecutionIds"]
    return {
        "QueryExecutions": [_show(held[one]) for one in wanted if one in held],
        "UnprocessedQueryExecutionIds": [
            {"QueryExecutionId": one, "ErrorCode": INVALID, "ErrorMessage": "It was not found"}
            for one in wanted
            if one not in held
        ],
    }


@operation("athena", "ListQueryExecutions")
def list_query_executions(call: Call) -> dict[str, Any]:
    """List the queries of a work group, the newest first."""
    held = call.cloud.state(Executions, call.account, call.region).by_id
    group = call.params.get("WorkGroup", "primary")
    found = [one for one, each in reversed(held.items()) if each.settings.group == group]
    page, more = _PAGES.cut(call, found)
    return {"QueryExecutionIds": page, **more}


@operation("athena", "StopQueryExecution")
def stop_query_execution(call: Call) -> dict[str, Any]:
    """Cancel a query."""
    query = find_execution(call, call.params["QueryExecutionId"]).query
    query.cancel("Query cancelled by user", _STOP_SECONDS)
    return {}


def _show(execution: Execution) -> dict[str, Any]:
    query, asked = execution.query, execution.asked_with
    status: dict[str, Any] = {"State": query.state, "SubmissionDateTime": query.submitted}
    if query.reason:
        status["StateChangeReason"] = query.reason
    if query.completed:
        status["CompletionDateTime"] = query.completed
    if query.state is QueryState.FAILED:
        kinds = {"ErrorCategory": 2, "ErrorType": 1006, "Retryable": False}  # errors of the user
        status["AthenaError"] = {**kinds, "ErrorMessage": query.reason}
    taken = (query.completed or datetime.now(UTC)) - query.submitted
    milliseconds = int(taken.total_seconds() * 1000)
    output = {**execution.settings.output, "OutputLocation": execution.output_location}
    shown: dict[str, Any] = {
        "QueryExecutionId": query.id,
        "Query": query.sql,
        "StatementType": query.kind.value[0],
        "SubstatementType": query.kind.value[1],
        "ResultConfiguration": output,
        "QueryExecutionContext": asked.get("QueryExecutionContext", {}),
        "Status": status,
        "Statistics": {
            "DataScannedInBytes": query.result.scanned_bytes if query.result else 0,
            "EngineExecutionTimeInMillis": milliseconds,
            "TotalExecutionTimeInMillis": milliseconds,
        },
        "WorkGroup": execution.settings.group,
        "EngineVersion": {
            "SelectedEngineVersion": "AUTO",
            "EffectiveEngineVersion": "Athena engine version 3",
        },
    }
    if query.kind is StatementKind.CREATE_TABLE_AS:
        shown["Statistics"]["DataManifestLocation"] = execution.output_location
    if query.parameters:
        shown["ExecutionParameters"] = list(query.parameters)
    return shown
