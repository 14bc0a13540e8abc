"""A poller in a group that changes: what it keeps, drops, commits and where it goes on."""

from __future__ import annotations

import json
import threading
from unittest.mock import patch

import pytest

from localcloud.poller.poller import Poller
from localcloud.poller.worker import Reports, Worker
from tests.stubs.consumer_group import Group
from tests.stubs.poller import P0, P1, Function, record, settings, view

_GO_ON = threading.Event()


@pytest.fixture
def group():
    made = Group()
    for place in made.log:
        made.log[place] = [record(o, partition=place.partition) for o in range(10)]
    return made


def join(group, **changes):
    """Make a poller that has both partitions."""
    changes = {"MaximumBatchingWindowInSeconds": 0, **changes}
    with patch("localcloud.poller.poller.KafkaConsumer", group):
        poller = Poller(settings(**changes), {})
    group.assign(P0, P1)
    return poller


def places_of(records):
    return [(r.partition, r.offset) for r in records]


def test_batches_follow_each_other(group):
    poller = join(group, BatchSize=12)
    first = poller.take(0.1, _GO_ON)
    poller.commit({P0: 10, P1: 2})
    poller.finish()
    assert places_of(first + poller.take(0.1, _GO_ON)) == [
        (p, o) for p in (0, 1) for o in range(10)
    ]


def test_nothing_is_an_empty_batch(group):
    group.offsets = {P0: 10, P1: 10}
    assert join(group).take(0.01, _GO_ON) == []


def test_a_stop_ends_the_collecting_at_once(group):
    poller = join(group, MaximumBatchingWindowInSeconds=300)
    stop = threading.Event()
    group.next_change = stop.set
    assert len(poller.take(300, stop)) > 0


def test_a_partition_that_comes_back_goes_on_after_the_batch_in_work(group):
    poller = join(group, BatchSize=4)
    batch = poller.take(0.1, _GO_ON)
    group.next_change = lambda: group.assign(P0, P1)
    assert poller.keep_alive() == set()
    poller.commit({P0: 4})
    poller.finish()
    assert places_of(batch + poller.take(0.1, _GO_ON)) == [(0, o) for o in range(8)]
    assert group.offsets == {P0: 4, P1: 0}


def test_a_lost_partition_is_reported_and_not_committed(group):
    poller = join(group, BatchSize=4)
    poller.take(0.1, _GO_ON)
    group.next_change = lambda: group.assign(P1)
    assert poller.keep_alive() == {P0}
    poller.commit({P0: 4})
    assert group.offsets[P0] == 0


def test_nothing_of_a_new_partition_is_skipped_while_a_call_runs(group):
    group.mine = set()
    poller = join(group, BatchSize=4)
    group.assign(P0)
    poller.take(0.1, _GO_ON)
    group.next_change = lambda: group.assign(P0, P1)
    poller.keep_alive()  # the poll inside returns records of partition 1
    poller.commit({P0: 4})
    poller.finish()
    group.log[P0] = []
    assert places_of(poller.take(0.1, _GO_ON)) == [(1, o) for o in range(4)]


def test_records_fetched_before_a_rebalance_are_read_again(group):
    poller = join(group, BatchSize=30, MaximumBatchingWindowInSeconds=1)

    def told_late():
        group.listener.on_partitions_revoked({P0, P1})
        group.next_change = lambda: group.listener.on_partitions_assigned({P0, P1})

    group.next_change = told_late
    assert sorted(places_of(poller.take(0.5, _GO_ON))) == [
        (p, o) for p in (0, 1) for o in range(10)
    ]


def test_records_of_the_batch_in_work_that_come_again_are_passed_over(group):
    poller = join(group, BatchSize=4)
    batch = poller.take(0.1, _GO_ON)

    def told_late():
        group.stopped, group.at[P0] = set(), 0
        group.listener.on_partitions_revoked({P0, P1})

    group.next_change = told_late
    poller.keep_alive()  # the poll inside returns records of the batch, and those behind it
    group.listener.on_partitions_assigned({P0, P1})
    poller.commit({P0: 4})
    poller.finish()
    assert places_of(batch + poller.take(0.1, _GO_ON)) == [(0, o) for o in range(8)]


@pytest.mark.parametrize("left", [[], [1]], ids=["read to its end", "not read to its end"])
def test_a_partition_that_was_read_to_its_end_makes_room_for_parked_ones(group, left):
    group._fetcher._next_partition_records = left
    join(group).take(0.01, _GO_ON)
    assert group._fetcher._next_partition_records == (left or None)


def test_collected_records_of_a_lost_partition_are_dropped(group):
    poller = join(group, BatchSize=30, MaximumBatchingWindowInSeconds=1)

    def later():
        group.next_change = lambda: group.assign(P1)

    group.next_change = later
    assert places_of(poller.take(0.5, _GO_ON)) == [(1, o) for o in range(10)]


def test_a_commit_waits_for_the_end_of_a_rebalance(group):
    poller = join(group, BatchSize=4)
    poller.take(0.1, _GO_ON)
    group.listener.on_partitions_revoked({P0, P1})
    group.mine = set()
    group.next_change = lambda: group.assign(P0)
    assert poller.commit({P0: 4}) == set()
    assert group.offsets[P0] == 4


def test_a_refused_commit_is_not_the_end(group):
    poller = join(group, BatchSize=4)
    poller.take(0.1, _GO_ON)
    group.refuse_commits = 1
    group.next_change = lambda: group.assign(P1)
    assert poller.commit({P0: 4}) == {P0}
    assert group.offsets[P0] == 0


@pytest.mark.parametrize(
    ("position", "start"),
    [
        ({"StartingPosition": "TRIM_HORIZON"}, 0),
        ({"StartingPosition": "LATEST"}, 10),
        ({"StartingPosition": "AT_TIMESTAMP", "StartingPositionTimestamp": 5}, 5),
        ({"StartingPosition": "AT_TIMESTAMP", "StartingPositionTimestamp": 99}, 10),
    ],
)
def test_a_new_group_begins_at_its_position_and_commits_it(group, position, start):
    group.log[P0] = [record(o, timestamp_ms=o * 1000) for o in range(10)]
    group.log[P1], group.offsets = [], {P0: None, P1: 0}
    poller = join(group, BatchSize=20, **position)
    assert [r.offset for r in poller.take(0.05, _GO_ON) + poller.take(0.05, _GO_ON)] == list(
        range(start, 10)
    )
    assert group.offsets[P0] == start


def test_a_poller_is_placed_once_it_has_taken_its_position(group):
    group.offsets = {P0: None, P1: None}
    poller = join(group, StartingPosition="LATEST")
    assert not poller.placed  # it has partitions, and would still skip what is sent now
    poller.take(0.05, _GO_ON)
    assert (poller.placed, group.offsets) == (True, {P0: 10, P1: 10})


def test_a_poller_that_gets_another_partition_takes_its_position_there_first(group):
    group.offsets[P1] = None
    with patch("localcloud.poller.poller.KafkaConsumer", group):
        poller = Poller(settings(StartingPosition="LATEST"), {})
    group.assign(P0)
    poller.take(0.05, _GO_ON)
    group.assign(P0, P1)
    assert not poller.placed
    poller.take(0.05, _GO_ON)
    assert (poller.placed, group.offsets[P1]) == (True, 10)
    group.assign()
    assert not poller.placed  # it has nothing to read


def test_a_worker_does_not_commit_a_lost_partition_that_returns(group):
    """Partition 0 goes away in mid-batch and returns: what was dropped is not skipped."""
    tries = []

    def judge(places):
        tries.append(places)
        return "fail" if len(tries) == 1 else None

    mapping = view(BatchSize=12, MaximumBatchingWindowInSeconds=0)
    job = {"mapping": mapping, "service_account": "1", "region": "eu-central-1", "ca_files": []}
    worker = Worker(json.loads(json.dumps(job)), Reports(), threading.Event())
    worker._calls = Function(judge)
    poller = join(group, BatchSize=12)
    batch = poller.take(0.1, _GO_ON)
    changes = iter([lambda: group.assign(P1), lambda: group.assign(P0, P1)])
    commit = poller.commit

    def commit_after_a_change(offsets):
        group.next_change = next(changes, None)
        lost = poller.keep_alive() if group.next_change else set()
        return lost | commit(offsets)

    poller.commit = commit_after_a_change
    worker._deliver(poller, batch)
    assert tries[1] == [(1, 0), (1, 1)]
    assert group.offsets == {P0: 0, P1: 2}


def test_a_poller_without_a_place_in_its_group_is_kept_out(group):
    with patch("localcloud.poller.poller.KafkaConsumer", group):
        poller = Poller(settings(), {})
    assert not poller.is_kept_out  # it has time to get in
    with patch("localcloud.poller.poller._JOIN_SECONDS", 0.0):
        assert poller.is_kept_out
        group.assign()  # no partition is left for it: a member all the same
        assert not poller.is_kept_out
        group.listener.on_partitions_revoked(set())
        assert poller.is_kept_out
