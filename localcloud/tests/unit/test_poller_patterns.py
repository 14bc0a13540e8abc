"""Filter patterns, rule by rule."""

from __future__ import annotations

import json

import pytest

from localcloud.poller.patterns import matches, parse_pattern

_EVENT = {
    "value": {"kind": "Order", "price": 12.5, "tags": ["new", "big"], "gone": None, "ok": True},
    "key": "order-7",
    "offset": 3,
}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ({"key": ["order-7"]}, True),
        ({"key": ["order-8", "order-9"]}, False),
        ({"offset": [3]}, True),
        ({"value": {"kind": ["Order"], "price": [12.5]}}, True),
        ({"value": {"kind": ["Order"], "price": [13]}}, False),
        ({"value": {"tags": ["big"]}}, True),
        ({"value": {"gone": [None]}}, True),
        ({"value": {"missing": [None]}}, False),
        ({"value": {"ok": [True]}}, True),
        ({"value": {"ok": [1]}}, False),
        ({"value": {"kind": [{"prefix": "Or"}]}}, True),
        ({"value": {"kind": [{"suffix": "der"}]}}, True),
        ({"value": {"price": [{"prefix": "1"}]}}, False),
        ({"value": {"kind": [{"equals-ignore-case": "oRDER"}]}}, True),
        ({"value": {"kind": [{"anything-but": "Order"}]}}, False),
        ({"value": {"kind": [{"anything-but": ["A", "B"]}]}}, True),
        ({"value": {"kind": [{"anything-but": {"prefix": "Or"}}]}}, False),
        ({"value": {"missing": [{"anything-but": "x"}]}}, False),
        ({"value": {"price": [{"numeric": [">", 10, "<=", 12.5]}]}}, True),
        ({"value": {"price": [{"numeric": ["=", 12]}]}}, False),
        ({"value": {"price": [{"numeric": ["<", 12]}]}}, False),
        ({"value": {"price": [{"numeric": [">=", 12]}]}}, True),
        ({"value": {"ok": [{"numeric": [">", 0]}]}}, False),
        ({"value": {"missing": [{"exists": False}]}}, True),
        ({"value": {"gone": [{"exists": True}]}}, True),
        ({"value": {"kind": {"deeper": ["x"]}}}, False),
        ({"value": {"$or": [{"kind": ["A"]}, {"price": [12.5]}]}}, True),
        ({"value": {"$or": [{"kind": ["A"]}, {"price": [1]}]}}, False),
    ],
)
def test_a_rule_decides_as_eventbridge_does(pattern, expected):
    assert matches(parse_pattern(json.dumps(pattern)), _EVENT) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a JSON object with fields, found []"),
        ("{}", "expected a JSON object with fields, found {}"),
        ('{"a": "b"}', '$.a is "b", expected a list with rules'),
        ('{"a": {"b": []}}', "$.a.b is [], expected a list with rules"),
        ('{"$or": [{"a": 1}]}', "$.$or.a is 1, expected a list with rules"),
        ('{"a": [{"cidr": "10.0.0.0/8"}]}', '$.a has {"cidr": "10.0.0.0/8"}, expected one of '),
        ('{"$or": ["a"]}', '$.$or has "a", expected an object'),
        ('{"a": [{"prefix": 5}]}', "$.a has prefix 5, expected a text"),
        ('{"a": [{"exists": "yes"}]}', '$.a has exists "yes", expected true or false'),
        ('{"a": [{"anything-but": {"suffix": 5}}]}', "$.a has suffix 5, expected a text"),
        ('{"a": [{"numeric": 5}]}', "$.a has numeric 5, expected a list of signs (= < <= > >=)"),
        ('{"a": [{"numeric": [">"]}]}', '$.a has numeric [">"], expected a list of signs'),
        ('{"a": [{"numeric": ["~", 1]}]}', '$.a has numeric ["~", 1], expected a list of signs'),
        ('{"a": [{"numeric": [">", true]}]}', '$.a has numeric [">", true], expected a list of'),
    ],
)
def test_a_pattern_that_is_not_understood_is_refused(text, message):
    with pytest.raises(ValueError) as caught:
        parse_pattern(text)
    assert str(caught.value).startswith(message)


def test_a_pattern_that_is_not_json_is_rejected():
    with pytest.raises(ValueError, match="Expecting"):
        parse_pattern("{")
