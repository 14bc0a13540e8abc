"""Waiting for a state: until it is there, or until the time is over."""

from __future__ import annotations

import pytest

from localcloud.testing import ask_for, wait_until


def test_the_first_true_answer_is_returned():
    answers = iter([0, None, 3, 4])

    assert ask_for(lambda: next(answers), 10) == 3
    assert wait_until("an answer", lambda: next(answers), 10) == 4


def test_a_wait_in_vain_returns_the_last_answer_or_says_for_what():
    assert ask_for(list, 0) == []
    with pytest.raises(AssertionError, match=r"waited 0\.1 s in vain: a row"):
        wait_until("a row", list, 0.1)
