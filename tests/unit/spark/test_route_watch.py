"""A batch ends under the routes that it was begun with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from penstock.errors import CheckpointError
from penstock.spark.state.checkpoint import check_routes
from tests.stubs.state_files import MemoryFiles

_OLD, _NEW = {"sensor": "readings", "order": "orders"}, {"sensor": "orders"}
_FIRST, _SECOND, _THIRD = (f"{number:020d}.json" for number in (1, 2, 3))


@pytest.fixture
def start():
    """Start at batch 4 with routes; begun says whether Spark has planned it."""
    files = MemoryFiles()

    def start(routes, *, begun):
        checkpoint = SimpleNamespace(folder="s3://c", is_begun=lambda batch: begun and batch == 4)
        check_routes(files, checkpoint, 4, routes)
        return files

    return start


def test_routes_change_between_batches(start):
    assert start({}, begun=False) == {_FIRST: "{}"}
    assert start(_NEW, begun=False) == {_SECOND: '{"sensor": "orders"}'}
    assert start({}, begun=False) == {_THIRD: "{}"}


def test_a_half_done_batch_needs_its_own_routes(start):
    start(_OLD, begun=False)
    turned = dict(reversed(_OLD.items()))
    assert list(start(turned, begun=True)) == [_FIRST]
    for other in (_NEW, {}):
        with pytest.raises(
            CheckpointError,
            match=r"^batch 4 of the checkpoint s3://c is half done with the routes "
            r'\{"order": "orders", "sensor": "readings"\}, found \{.*\}, expected the same until '
            r"it is over: start once with those and --trigger available-now, then with these$",
        ):
            start(other, begun=True)
    assert list(start(_OLD, begun=True)) == [_FIRST]


def test_routes_of_a_first_start_are_stored(start):
    assert start(_NEW, begun=True) == {_FIRST: '{"sensor": "orders"}'}
