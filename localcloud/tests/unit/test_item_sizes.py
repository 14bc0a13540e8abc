"""The size of an item as DynamoDB counts it."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.door.errors import AwsError
from localcloud.services.dynamodb.values import check_item

_MOST = 400 * 1024


# Each with the bytes of the value, beside its name of one byte.
@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "é"}, 2),
        ({"B": "AAAA"}, 3),
        ({"N": "-12.5"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["ab", "c"]}, 3),
        ({"L": [{"BOOL": True}, {"L": []}]}, 3 + 2 + 4),
        ({"M": {"k": {"S": "v"}}}, 3 + 1 + 2),
    ],
    ids=str,
)
def test_a_value_counts_as_the_guide_says(value: dict[str, Any], size: int) -> None:
    rest = "x" * (_MOST - 1 - 1 - size)

    check_item({"v": value, "r": {"S": rest}})
    with pytest.raises(AwsError, match="Item size has exceeded the maximum allowed size"):
        check_item({"v": value, "r": {"S": rest + "x"}})
