"""Waiting for a state, with what was waited for in the message."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from localcloud.command.instance import start_time

_Answer = TypeVar("_Answer")


def wait_until(what: str, condition: Callable[[], Any], seconds: float = 180.0) -> Any:
    """Ask until the answer is true, and return it; a test that waits in vain says for what."""
    found = ask_for(condition, seconds)
    if not found:
        raise AssertionError(f"waited {seconds} s in vain: {what}")
    return found


def ask_for(condition: Callable[[], _Answer], seconds: float) -> _Answer:
    """Ask until the answer is true or the time is over, and return the last answer.

    To ask takes CPU time, so it asks less often as time passes.
    """
    begun = time.monotonic()
    while not (found := condition()):
        waited = time.monotonic() - begun
        if waited >= seconds:
            break
        time.sleep(min(max(0.05, waited / 10), 0.5))
    return found


def is_running(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    return start_time(pid) != 0
