"""An item reads as boto3 writes it, and what DynamoDB would round or refuse is refused."""

from __future__ import annotations

import json
import tracemalloc
from base64 import b64encode
from decimal import Decimal
from typing import Any

import pytest
from boto3.dynamodb.types import TypeSerializer

from penstock.errors import Reason, RowTooLargeError, SinkRefusedError
from penstock.sinks.item_json import read_item, write_item

_VALUES: list[Any] = [
    *("", "plain", 'quotes " and \\', "\x00\x1f\n", "\u2028 é 日本 😀"),
    *(0, -1, 2**63 - 1, 10**37, 10**38 - 1, -(10**38) + 1),
    *(Decimal("1.10"), Decimal("1E-130"), Decimal("9.99E+125"), Decimal("0." + "3" * 38)),
    *(True, False, None, b"", b"\x00\xff"),
    *([], {}, [1, None, "x", [True]], {"": {"b": [b"x", {"c": Decimal(2)}]}}),
]


def _as_boto3_does(value: Any) -> Any:
    """What boto3 sends: its serialiser, and bytes in base64."""

    def to_text(found: Any) -> str:
        return b64encode(getattr(found, "value", found)).decode()

    return json.loads(json.dumps(TypeSerializer().serialize(value), default=to_text))


@pytest.mark.parametrize("value", _VALUES, ids=repr)
def test_a_value_is_written_as_boto3_does(value: Any) -> None:
    assert json.loads(write_item({"a": value})) == {"a": _as_boto3_does(value)}


@pytest.mark.parametrize("value", _VALUES, ids=repr)
def test_a_value_is_read_as_it_was_written(value: Any) -> None:
    assert read_item(json.loads(write_item({"a": value}))) == {"a": value}


@pytest.mark.parametrize("value", [0, -1, 10**38 - 1, -(10**38) + 1])
def test_an_integer_is_read_as_one(value: int) -> None:
    assert type(read_item({"a": {"N": str(value)}})["a"]) is int


@pytest.mark.parametrize("value", [0.0, 30.5, -0.1, 1e-130, 1e22, 9.99e125, 5e-100])
def test_a_float_reads_back_as_the_same_float(value: float) -> None:
    written = json.loads(write_item({"a": value}))["a"]["N"]

    assert float(Decimal(written)) == value
    assert len(Decimal(written).as_tuple().digits) <= 38


@pytest.mark.parametrize(
    ("value", "written"), [(-0.0, "0.0"), (Decimal("-0"), "0"), (Decimal("-0.00"), "0.00")]
)
def test_a_negative_zero_is_written_as_the_zero_that_dynamodb_keeps(
    value: float | Decimal, written: str
) -> None:
    item = {"a": value, "b": [value], "c": {"d": value}}

    assert json.loads(write_item(item)) == {
        "a": {"N": written},
        "b": {"L": [{"N": written}]},
        "c": {"M": {"d": {"N": written}}},
    }


@pytest.mark.parametrize("value", [1e38, -1e40, 9.99e125, [1e38], {"b": -1e38}], ids=repr)
def test_a_row_that_a_table_holds_is_written_to_another(value: Any) -> None:
    """So a join writes rows of its dependencies: a whole number may come from a double."""
    row = read_item(json.loads(write_item({"a": value})))

    assert read_item(json.loads(write_item(row))) == row


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (10**38, "a: found an integer beyond 38 digits, expected at most 38"),
        (-(10**38), "a: found an integer beyond 38 digits, expected at most 38"),
        (float("nan"), "a: found NaN, expected 0 or a size of 1e-130 to 9.99e+"),
        (float("-inf"), "a: found -inf, expected 0 or a size of 1e-130 to 9.99e+125"),
        (1e126, "a: found 1e+126, expected 0 or"),
        (9e-131, "a: found 9e-131, expected 0 or"),
        (Decimal("1." + "1" * 38), "expected at most 38 digits and a size of 1e-130 to 9.99e+125"),
        (Decimal("1." + "0" * 38), "expected at most 38 digits and a size of"),
        (Decimal("1E+126"), "a: found 1E+126, expected at most 38 digits"),
        (Decimal("1E-131"), "a: found 1E-131, expected at most 38 digits"),
        (Decimal("NaN"), "a: found NaN, expected at most 38 digits"),
        (Decimal("sNaN"), "a: found sNaN, expected at most 38 digits"),
        (Decimal("Infinity"), "a: found Infinity, expected at most 38 digits"),
        ({"b": [10**38]}, "a: found an integer beyond 38 digits, expected at most 38"),
        (
            "\ud800",
            "found text that is not Unicode: 'utf-8' codec can't encode character '\\ud800'",
        ),
        ({"\udfff": 1}, "found text that is not Unicode: 'utf-8' codec can't encode"),
    ],
    ids=repr,
)
def test_a_value_that_dynamodb_cannot_hold_is_rejected(value: Any, message: str) -> None:
    with pytest.raises(SinkRefusedError) as caught:
        write_item({"ok": 1, "a": value})

    assert message in str(caught.value)
    assert caught.value.reason is Reason.SINK_REFUSED


# A control character is one byte in UTF-8 and six characters in JSON, each as wide as the emoji.
_LONG = "\x01" * 2**22 + "😀"
_SHORTER = "\x01" * 200_000 + "😀"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"b": _LONG, "c": _LONG}, "text of 4,194,305 characters"),
        ([_LONG, _LONG], "text of 4,194,305 characters"),
        ({_LONG: 1}, "a name of 4,194,305 characters"),
        (bytes(2**23), "8,388,608 bytes"),
        ([_SHORTER] * 40, "a row of more than 6,553,600 characters of JSON"),
        ({str(number): _SHORTER for number in range(40)}, "a row of more than 6,553,600"),
        ([[_SHORTER] * 4] * 40, "a row of more than 6,553,600 characters of JSON"),
    ],
    ids=["map", "list", "name", "bytes", "shorter-in-a-list", "shorter-in-a-map", "lists"],
)
def test_a_value_that_no_row_holds_is_rejected_in_bounded_memory(value: Any, found: str) -> None:
    tracemalloc.start()
    with pytest.raises(RowTooLargeError) as caught:
        write_item({"a": value})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert str(caught.value).startswith(f"found {found}")
    assert str(caught.value).endswith(", expected an item of at most 400 KB")
    assert peak < 80 * 2**20
