"""A call that is waited for as long as there is time, and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTime


def run_within(seconds: float, call: Callable[[], None]) -> bool:
    """Run a call in a thread of its own; says whether it came to its end, and raises its error.

    A library may wait longer than it was told to, such as for a name to resolve. Lambda would end
    the whole environment for that, and nobody would hear what became of the events.
    """
    outcome: Future[None] = Future()

    def run() -> None:
        try:
            call()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        outcome.result(max(0.0, seconds))
    except OutOfTime:
        # Of the call itself, an error of this kind is an error like others.
        if outcome.done():
            raise
        return False
    return True
