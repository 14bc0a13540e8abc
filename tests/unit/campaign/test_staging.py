"""The rows that a staging job joins: each shipment of a seed needs rows, most of which come."""

from __future__ import annotations

from itertools import islice

from campaign.joins import _KEYS
from campaign.staging import make_ticks
from demo.staging.publisher import DRIVER

_SOME = 200  # ticks: those of several publishers


def test_publishers_follow_one_another_with_rows_of_their_own() -> None:
    changes = [each for tick in islice(make_ticks(1), _SOME) for each in tick]

    assert changes == [each for tick in islice(make_ticks(1), _SOME) for each in tick]
    shipments = {each.key for each in changes if each.table == DRIVER}
    assert {key.partition("-")[0] for key in shipments} == {"r0", "r1", "r2", "r3"}
    assert len(shipments) > 120


def test_a_key_is_that_of_its_row_and_only_shipments_are_deleted() -> None:
    changes = [each for tick in islice(make_ticks(1), _SOME) for each in tick]

    assert {each.table for each in changes} == _KEYS.keys()
    assert {each.table for each in changes if each.row is None} == {DRIVER}
    for each in changes:
        if each.row is not None:
            assert each.key == "/".join(str(each.row[column]) for column in _KEYS[each.table])
