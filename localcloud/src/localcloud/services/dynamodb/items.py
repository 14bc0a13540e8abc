"""DynamoDB is moto's, except for empty names of attributes, which AWS refuses and moto stores."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation

# Such a name, or one that ends in a quotation mark: most bodies need not be parsed.
_SUSPECT: Final = re.compile(rb'""\s*:')


@operation("dynamodb", "BatchWriteItem")
@operation("dynamodb", "PutItem")
@operation("dynamodb", "TransactWriteItems")
@operation("dynamodb", "UpdateItem")
def write_items(call: Call) -> HttpAnswer:
    """Let moto write items whose attributes all have names."""
    if _SUSPECT.search(call.body) and _has_empty_name(json.loads(call.body)):
        raise AwsError("ValidationException", "Empty attribute name")
    return call.forward()


def _has_empty_name(value: Any) -> bool:
    if isinstance(value, dict):
        return "" in value or any(map(_has_empty_name, value.values()))
    return isinstance(value, list) and any(map(_has_empty_name, value))
