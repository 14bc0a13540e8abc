"""Reading JSON text; docs/events.md has the cases of values."""

from __future__ import annotations

import json

import pytest

from penstock.errors import EventError, EventLimitError, EventTextError, EventValueError
from penstock.schemas import parse_event


def test_text_and_bytes_are_read_alike() -> None:
    text = '{"é": [1, 2.5, null, true, "x"]}'
    event = {"é": [1, 2.5, None, True, "x"]}
    assert parse_event(text) == parse_event(text.encode()) == event


@pytest.mark.parametrize(
    ("text", "error", "path", "message"),
    [
        (b'{"a": "\xff"}', EventTextError, "",
         "found bytes that are not UTF-8 at position 7, expected JSON text"),
        ("", EventTextError, "",
         "found text that is not JSON, expected an object: "
         "Expecting value: line 1 column 1 (char 0)"),
        ("\ufeff{}", EventTextError, "",
         "found text that is not JSON, expected an object: "
         "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"),
        ('{"a": 1} {}', EventTextError, "",
         "found text that is not JSON, expected an object: Extra data: line 1 column 10 (char 9)"),
        ("null", EventTextError, "", "found null, expected a JSON object"),
        ('"x"', EventTextError, "", "found the string 'x', expected a JSON object"),
        ("NaN", EventTextError, "", "found NaN, expected a number"),
        ('{"a": 1, "b": 2, "a": 3}', EventTextError, "a",
         "a: found the key twice in one object, expected it once"),
        ('{"a": [{"b": 1}, {"c": 1, "c": 1}]}', EventTextError, "a[].c",
         "a[].c: found the key twice in one object, expected it once"),
        ('{"a": {"b": 1234567890123456789012345678901234567890}}', EventValueError, "a.b",
         "a.b: found a whole number of 40 digits, expected one within 64 bits"),
        ('{"a": {"": 1}}', EventValueError, "a",
         "a: found a field with an empty name, expected a name of one character or more"),
        ('{"a": 1e-99999999999999999999}', EventValueError, "a",
         "a: found 1e-99999999999999999999, expected a number within the range of a double"),
        ('{"a": -%s}' % ("9" * 5_000), EventValueError, "a",
         "a: found a whole number of 5000 digits, expected one within 64 bits"),
        (r'{"\ud800": 1}', EventValueError, r"\ud800",
         r"\ud800: found the string '\ud800', expected a string without lone surrogates"),
        ("[" * 100_000, EventLimitError, "",
         "found more than 32 objects and lists inside each other, expected at most that"),
    ],
)  # fmt: skip
def test_text_that_is_refused(text: str, error: type[EventError], path: str, message: str) -> None:
    with pytest.raises(error) as caught:
        parse_event(text)
    assert type(caught.value) is error
    assert caught.value.path == path
    assert str(caught.value) == message


def test_the_smallest_and_largest_numbers() -> None:
    text = '{"a": -9223372036854775808, "b": 1.7976931348623157e308, "c": 5e-324, "d": -0.0}'
    event = parse_event(text)
    assert event == {"a": -(2**63), "b": 1.7976931348623157e308, "c": 5e-324, "d": 0.0}
    assert str(event["d"]) == "-0.0"


def test_a_long_key_is_shortened_in_the_path() -> None:
    with pytest.raises(EventValueError) as caught:
        parse_event(json.dumps({"o": {"jane.doe@example.com " + "x" * 200_000: 10**40}}))

    assert caught.value.path == "o.jane.doe@example.com " + "x" * 19 + "..."
    assert len(str(caught.value)) < 200
