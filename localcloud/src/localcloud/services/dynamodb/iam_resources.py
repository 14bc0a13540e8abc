"""How calls of DynamoDB name their tables for IAM, and the keys of tables that they use."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.identity.access import Access, arn_of
from localcloud.identity.resource_policies import key_use_of_table

_ITEM_OPERATIONS = frozenset(
    {
        *("BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
        *("TransactGetItems", "TransactWriteItems", "UpdateItem"),
    }
)
_TRANSACT_ACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the tables of a call, and the use of their keys by calls on items."""
    tables = list(_list_tables(call, action))
    yield from tables
    if call.operation in _ITEM_OPERATIONS:
        for arn in dict.fromkeys(str(access.resource) for access in tables):
            yield from (Access(*use) for use in key_use_of_table(arn))


def _list_tables(call: Call, action: str) -> Iterator[Access]:
    params = call.params
    if "RequestItems" in params:
        tables = list(params["RequestItems"])
        yield from (Access(action, arn_of(call, table, "table/{}")) for table in tables)
    elif "TransactItems" in params:
        for item in params["TransactItems"]:
            for kind, request in item.items():
                name = _TRANSACT_ACTIONS[kind]
                yield Access(f"dynamodb:{name}", arn_of(call, request["TableName"], "table/{}"))
    elif table := params.get("TableName") or params.get("ResourceArn"):
        arn = arn_of(call, table, "table/{}")
        index = params.get("IndexName")
        yield Access(action, f"{arn}/index/{index}" if index else arn)
    else:
        yield Access(action, None)
