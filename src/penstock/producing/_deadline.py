"""A call with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as OutOfTime

from penstock.attempts import start_call


def run_within(seconds: float, call: Callable[[], None]) -> bool:
    """Run a call in its own thread; return whether it ended in time, and raise its error.

    A library may wait longer than its timeout, for example for a name to resolve. Lambda would
    then end the whole environment, and the sender would not learn what happened to the events.
    """
    outcome = start_call(call)
    try:
        outcome.result(max(0.0, seconds))
    except OutOfTime:
        # A TimeoutError of the call itself is raised like any other error.
        if outcome.done():
            raise
        return False
    return True
