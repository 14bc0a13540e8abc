"""A call gets its time and no more."""

from __future__ import annotations

import threading
from concurrent.futures import TimeoutError as OutOfTime

import pytest

from penstock.producing._deadline import run_within


def _fail(error: BaseException) -> None:
    raise error


def test_a_call_that_ends_in_time_returns_true() -> None:
    done = threading.Event()

    assert run_within(5, done.set)
    assert done.is_set()


@pytest.mark.parametrize("seconds", [0.1, 0, -1])
def test_a_call_that_hangs_is_left_behind(seconds: float) -> None:
    freed = threading.Event()

    assert not run_within(seconds, lambda: freed.wait(90) and None)  # it has not ended, then

    freed.set()


@pytest.mark.parametrize("error", [ValueError("wrong"), OutOfTime("of the call itself")])
def test_the_error_of_the_call_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        run_within(5, lambda: _fail(error))

    assert caught.value is error
