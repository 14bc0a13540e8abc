"""The limits of the expressions of a request that moto does not have.

Sources: DynamoDB Developer Guide, "Quotas in Amazon DynamoDB" (expression parameters) and
"Expression attribute names (aliases) in DynamoDB"; the errors are those of reports of users.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from localcloud.services.dynamodb.values import refusal

_EXPRESSIONS: Final = (
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
)
_MOST_BYTES: Final = 4096
_MOST_OPERANDS: Final = 100
_VALUE: Final = re.compile(r":\w+")
_IN: Final = re.compile(r"\bIN\s*\(([^()]*)\)", re.IGNORECASE)
_PATH: Final = r"[#\w][#\w.\[\]]*"
_COMPARED: Final = re.compile(rf"(?<![\w#:.\]])({_PATH})\s*(<>|<=|>=|[=<>])\s*({_PATH})")


def check_expressions(request: Mapping[str, Any]) -> None:
    """Refuse an expression that DynamoDB does not take, and values that no expression uses."""
    found = {name: request[name] for name in _EXPRESSIONS if request.get(name)}
    for name, text in found.items():
        if (size := len(text.encode())) > _MOST_BYTES:
            raise refusal(
                f"Invalid {name}: Expression size has exceeded the maximum allowed size;"
                f" expression size: {size}"
            )
        if name.endswith("ConditionExpression") or name == "FilterExpression":
            _check_operands(name, text, request.get("ExpressionAttributeNames") or {})
    values = request.get("ExpressionAttributeValues")
    if values and not found:
        raise refusal("ExpressionAttributeValues can only be specified when using expressions")
    used = set(_VALUE.findall(" ".join(found.values())))
    if unused := sorted(set(values or ()) - used):
        raise refusal(
            "Value provided in ExpressionAttributeValues unused in expressions: keys:"
            f" {{{', '.join(unused)}}}"
        )


def _check_operands(name: str, text: str, names: Mapping[str, str]) -> None:
    """Refuse an IN with too many operands, and a path that is compared with itself."""
    for operands in _IN.findall(text):
        if (count := operands.count(",") + 1) > _MOST_OPERANDS:
            raise refusal(
                f"Invalid {name}: The IN operator is provided with too many operands;"
                f" number of operands: {count}"
            )
    for left, operator, right in _COMPARED.findall(text):
        first, second = ([names.get(part, part) for part in it.split(".")] for it in (left, right))
        if first == second:
            raise refusal(
                f"Invalid {name}: The first operand must be distinct from the remaining operands"
                f" for this operator or function; operator: {operator},"
                f" first operand: [{', '.join(first)}]"
            )
