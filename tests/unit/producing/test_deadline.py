"""`run_within` waits for a call, but no longer than the deadline."""

from __future__ import annotations

import threading
from concurrent.futures import TimeoutError as CallTimeoutError

import pytest

from penstock.producing._deadline import run_within


def _fail(error: BaseException) -> None:
    raise error


def test_a_call_that_ends_in_time_returns_true() -> None:
    done = threading.Event()

    assert run_within(5, done.set)
    assert done.is_set()


@pytest.mark.parametrize("seconds", [0.1, 0, -1])
def test_a_call_that_hangs_is_not_waited_for(seconds: float) -> None:
    released = threading.Event()

    assert not run_within(seconds, lambda: released.wait(90) and None)

    released.set()


@pytest.mark.parametrize(
    "error", [ValueError("wrong"), CallTimeoutError("raised by the call itself")]
)
def test_the_error_of_the_call_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        run_within(5, lambda: _fail(error))

    assert caught.value is error
