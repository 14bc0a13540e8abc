"""A partial DynamoDB batch: the rest is returned as unprocessed, as under load."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from localcloud.door.operations import Call, HttpAnswer

# Operation -> the member of its answer with the unprocessed items.
BATCHES = {"BatchWriteItem": "UnprocessedItems", "BatchGetItem": "UnprocessedKeys"}


def answer_in_part(
    call: Call, perform: Callable[[], HttpAnswer], items: int, containing: str
) -> HttpAnswer:
    """Perform a batch without some of its items.

    The items with a text in their JSON are left out, otherwise the last `items` of them.
    """
    request = json.loads(call.body)
    batch = [
        (table, entry)
        for table, asked in request["RequestItems"].items()
        for entry in _entries(asked)
    ]
    if containing:
        left = [at for at, (_, entry) in enumerate(batch) if containing in json.dumps(entry)]
    else:
        left = list(range(max(0, len(batch) - items), len(batch)))
    undone = _group(request, [batch[at] for at in left])
    done = _group(request, [entry for at, entry in enumerate(batch) if at not in set(left)])
    if not done:
        empty: dict[str, Any] = {} if call.operation == "BatchWriteItem" else {"Responses": {}}
        return _answer({**empty, BATCHES[call.operation]: undone})
    call.body = json.dumps({**request, "RequestItems": done}).encode()
    answer = perform()
    if answer.status != 200:
        return answer
    return _answer({**json.loads(answer.body), BATCHES[call.operation]: undone})


def _entries(asked: Any) -> list[Any]:
    """Return the items of one table: a list of writes, or the keys of a read."""
    return asked if isinstance(asked, list) else asked["Keys"]


def _group(request: dict[str, Any], batch: list[tuple[str, Any]]) -> dict[str, Any]:
    """Group items by table, with the other members of a read beside its keys."""
    grouped: dict[str, Any] = {}
    for table, entry in batch:
        asked = request["RequestItems"][table]
        empty: Any = [] if isinstance(asked, list) else {**asked, "Keys": []}
        _entries(grouped.setdefault(table, empty)).append(entry)
    return grouped


def _answer(body: dict[str, Any]) -> HttpAnswer:
    # Without moto's headers: x-amz-crc32 is that of another body.
    return HttpAnswer(
        200, (("Content-Type", "application/x-amz-json-1.0"),), json.dumps(body).encode()
    )
