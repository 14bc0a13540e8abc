"""A run is right only if faults happened and nothing is wrong."""

from __future__ import annotations

import pytest

from campaign.history import History
from campaign.oracle import Kind, Problem
from campaign.run import Fired, Outcome
from campaign.schedule import Step

_HISTORY = History((), {}, (), {}, {}, {})
_PROBLEM = Problem(Kind.LOST, "a record")


@pytest.mark.parametrize(
    ("times", "problems", "code"),
    [
        ([1, 2], [], 0),
        ([1, 0], [], 3),
        ([], [], 3),
        ([1], [_PROBLEM], 1),
        ([0], [_PROBLEM], 1),
    ],
)
def test_the_exit_code_tells_right_from_wrong_and_from_no_evidence(times, problems, code):
    fired = tuple(Fired(Step(1, "broker-killed", {}), each) for each in times)

    assert Outcome(fired, tuple(problems), _HISTORY, 0, 1).code == code
