"""The limits of the expressions of a request that moto does not have.

Sources: DynamoDB Developer Guide, "Quotas in Amazon DynamoDB" (expression parameters) and
"Expression attribute names (aliases) in DynamoDB".
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
_VALUE: Final = re.compile(r":\w+")


def check_expressions(request: Mapping[str, Any]) -> None:
    """Refuse an expression of over 4 KB, and values that no expression uses."""
    found = {name: request[name] for name in _EXPRESSIONS if request.get(name)}
    for name, text in found.items():
        if (size := len(text.encode())) > _MOST_BYTES:
            raise refusal(
                f"Invalid {name}: Expression size has exceeded the maximum allowed size;"
                f" expression size: {size}"
            )
    values = request.get("ExpressionAttributeValues")
    if values and not found:
        raise refusal("ExpressionAttributeValues can only be specified when using expressions")
    used = set(_VALUE.findall(" ".join(found.values())))
    if unused := sorted(set(values or ()) - used):
        raise refusal(
            "Value provided in ExpressionAttributeValues unused in expressions: keys:"
            f" {{{', '.join(unused)}}}"
        )
