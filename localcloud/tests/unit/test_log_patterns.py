"""Filter patterns of CloudWatch Logs: what matches, and what is refused.

Expected matches: CloudWatch Logs User Guide, "Filter pattern syntax".
"""

from __future__ import annotations

import pytest

from localcloud.services.logs.patterns import read_pattern

_LINE = '{"service": "orders", "Rows": 7, "late": true, "place": {"topic": "t"}}'


@pytest.mark.parametrize(
    ("pattern", "message", "expected"),
    [
        ("", "anything", True),
        ("ERROR", "[ERROR 400] bad", True),
        ("ERROR", "[error 400] bad", False),
        ("ERROR bad", "bad [ERROR]", True),
        ("ERROR worse", "bad [ERROR]", False),
        ('"must be delivered again"', "it must be delivered again", True),
        ('"be must"', "it must be delivered again", False),
        (r'"\"Rows\""', _LINE, True),
        ("{ $.Rows >= 7 }", _LINE, True),
        ("{ $.Rows >= 8 }", _LINE, False),
        ("{ $.Rows > 7 }", _LINE, False),
        ("{$.Rows=7}", _LINE, True),
        ("{ $.Rows <= 6.5 }", _LINE, False),
        ("{ $.Rows >= 0 }", "Rows 7", False),
        ("{ $.Rows >= 0 }", "[7]", False),
        ("{ $.Missing >= 0 }", _LINE, False),
        ("{ $.late >= 0 }", _LINE, False),
        ("{ $.service >= 0 }", _LINE, False),
        ('{ $.service = "orders" }', _LINE, True),
        ('{ $.service = "order" }', _LINE, False),
        ('{ $.place.topic = "t" }', _LINE, True),
        ('{ $.Rows = "7" }', _LINE, False),
    ],
)
def test_a_pattern_matches_as_in_cloudwatch(pattern, message, expected):
    assert read_pattern(pattern)(message) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "-ERROR",
        "a.b",
        '"open',
        "[ip, user]",
        "%regex%",
        "{ $.a = 1 && $.b = 2 }",
        '{ $.a = "x*" }',
        '{ $.a > "x" }',
        "{ $.a IS NULL }",
    ],
)
def test_another_pattern_is_refused(pattern):
    with pytest.raises(ValueError, match="Invalid filter pattern"):
        read_pattern(pattern)
