"""Waiting for a state, with what was waited for in the message."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from localcloud.command.instance import start_time


def wait_until(what: str, condition: Callable[[], Any], seconds: float = 90.0) -> Any:
    """Ask until the answer is true, and return it; a test that waits in vain says for what.

    To ask takes CPU time, so it asks less often as time passes.
    """
    begun = time.monotonic()
    while not (found := condition()):
        waited = time.monotonic() - begun
        if waited >= seconds:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(min(max(0.05, waited / 10), 0.5))
    return found


def is_running(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    return start_time(pid) != 0
