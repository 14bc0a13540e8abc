"""A value that is built again after a restore has no session of the snapshot."""

from __future__ import annotations

import random
from collections.abc import Iterator

from penstock.credentials import load_session
from penstock.rebuilt import Rebuilt


def test_a_value_is_built_at_the_start_and_at_each_restore() -> None:
    built: Iterator[int] = iter((1, 2, 3))
    clients = Rebuilt(lambda: next(built))

    assert clients.value == 1
    clients.rebuild()
    assert clients.value == 2


def test_the_build_after_a_restore_gets_new_sessions() -> None:
    clients = Rebuilt(lambda: load_session(region="eu-west-3"))
    before = clients.value
    assert load_session(region="eu-west-3") is before

    clients.rebuild()

    assert clients.value is not before
    assert load_session(region="eu-west-3") is clients.value


def test_environments_of_one_snapshot_draw_other_numbers() -> None:
    clients, snapshot = Rebuilt(dict), random.getstate()

    drawn = set()
    for _ in range(2):
        random.setstate(snapshot)
        clients.rebuild()
        drawn.add(random.random())

    assert len(drawn) == 2
