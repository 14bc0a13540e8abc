"""Limits of keys, values and items that moto does not have, or finds only after a part is written.

Sources: DynamoDB Developer Guide, "DynamoDB Item sizes and formats" and "Supported data types and
naming rules".
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from localcloud.door.errors import AwsError

_Value = Mapping[str, Any]

_MOST_BYTES: Final = 400 * 1024
_MOST_OF_KEY: Final = (2048, 1024)  # bytes of a partition and of a sort key
_TOO_LARGE: Final = {  # DynamoDB leaves out a space in the first one
    2048: "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    1024: "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
}
_KINDS: Final = {"S": "string", "N": "number", "B": "binary"}
_MOST_DIGITS: Final = 38
_MOST_EXPONENT: Final = 125
_LEAST_EXPONENT: Final = -130
_MOST_LEVELS: Final = 32  # of which the attribute itself is one: assumption `nesting-levels`


def check_item(item: Mapping[str, _Value]) -> None:
    """Refuse an item that DynamoDB does not hold, or of over 400 KB.

    It holds no attribute without a name, wrong number, set with a value twice, or 33rd level.
    """
    if measure_item(item) > _MOST_BYTES:
        raise refusal("Item size has exceeded the maximum allowed size")


def measure_item(item: Mapping[str, _Value]) -> int:
    """Return the bytes of an item, with the names of its attributes."""
    return _measure_members(item)


def check_key(key: Mapping[str, _Value], types: Mapping[str, str]) -> None:
    """Refuse a key that no item can have; the types of the partition and sort key are by name."""
    if {name: kind for name, value in key.items() for kind in value} != types:
        raise refusal("The provided key element does not match the schema")
    for most, (name, kind) in zip(_MOST_OF_KEY, types.items(), strict=False):
        if not key[name][kind]:
            raise refusal(
                "One or more parameter values are not valid. The AttributeValue for a key "
                f"attribute cannot contain an empty {_KINDS[kind]} value. Key: {name}"
            )
        if _measure(key[name], 1) > most:
            raise refusal(f"One or more parameter values were invalid: {_TOO_LARGE[most]}")


def check_values(values: Mapping[str, _Value]) -> None:
    """Refuse values of an update for the same reasons as an item."""
    _measure_members(values)


def _measure_members(members: Mapping[str, _Value], level: int = 1) -> int:
    if "" in members:
        raise refusal("Empty attribute name")
    return sum(len(name.encode()) + _measure(value, level) for name, value in members.items())


def _measure(value: _Value, level: int) -> int:
    """Return the bytes of a value; a stored binary value is in Base64."""
    if level > _MOST_LEVELS:
        raise refusal("Nesting Levels have exceeded supported limits")
    ((kind, content),) = value.items()
    size = 1  # of BOOL and NULL
    match kind:
        case "S":
            size = len(content.encode())
        case "N":
            size = _measure_number(content)
        case "B":
            size = len(content if isinstance(content, bytes) else b64decode(content))
        case "SS" | "NS" | "BS":
            _check_set(kind, content)
            size = sum(_measure({kind[0]: each}, level) for each in content)
        case "L":
            size = 3 + sum(1 + _measure(each, level + 1) for each in content)
        case "M":
            size = 3 + len(content) + _measure_members(content, level + 1)
    return size


def _check_set(kind: str, content: Sequence[str]) -> None:
    different = set(map(Decimal, content)) if kind == "NS" else set(content)
    if len(different) < len(content):
        raise refusal(
            "One or more parameter values were invalid: Input collection"
            f" [{', '.join(content)}] contains duplicates."
        )


def _measure_number(text: str) -> int:
    number = Decimal(text)
    digits = len("".join(map(str, number.as_tuple().digits)).strip("0"))
    if digits > _MOST_DIGITS:
        raise refusal("Attempting to store more than 38 significant digits in a Number")
    if number and number.adjusted() > _MOST_EXPONENT:
        raise refusal(
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range"
        )
    if number and number.adjusted() < _LEAST_EXPONENT:
        raise refusal(
            "Number underflow. Attempting to store a number with magnitude smaller than supported "
            "range"
        )
    return (digits + 1) // 2 + 1


def refusal(message: str) -> AwsError:
    """Return DynamoDB's error for a request that it does not take."""
    return AwsError("ValidationException", message)
