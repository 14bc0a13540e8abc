"""What the demo chooses from a function's log: what tells of a failure, without traces."""

from __future__ import annotations

import json

import pytest

from demo.obstacle import choose_lines

_WARNING = json.dumps(
    {
        "level": "WARNING",
        "location": "_report:52",
        "message": "an event was not written",
        "function_name": "penstock-producer",
        "xray_trace_id": "1-2-3",
        "reason": "SchemaConflictError",
        "not_kept": "",
    }
)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("START RequestId: 1 Version: $LATEST", []),
        ('{"_aws": {"Timestamp": 1}, "Latency": [2.0]}', []),
        ('{"level": "INFO", "message": "all is well"}', []),
        ("[INFO]\tConnected", []),
        (_WARNING, ["WARNING an event was not written reason=SchemaConflictError"]),
        ("[ERROR] Gone: x\rTraceback (most recent call last):\r  File", ["[ERROR] Gone: x"]),
        ("[ERROR] Gone: x\nTraceback (most recent call last):", ["[ERROR] Gone: x"]),
        ("2026-11-21 1 Task timed out after 3.00 seconds", None),
        ("RequestId: 1 Error: Runtime exited with error: exit status 3", None),
    ],
)
def test_a_line_is_shown_if_it_tells_of_a_failure(line, shown):
    assert choose_lines([line]) == ([line] if shown is None else shown)


def test_the_last_ones_are_shown_each_once():
    log = [f"[ERROR] {number // 2}" for number in range(40)]
    assert choose_lines(log) == [f"[ERROR] {number}" for number in range(12, 20)]
