"""A consumer that cannot join its group ends, and others read on."""

from __future__ import annotations

from unittest.mock import Mock, patch

import pytest
from kafka.coordinator.base import MemberState

from penstock.errors import BrokerUnavailableError
from penstock.kafka.consumer import Consumer
from tests.stubs.clock import FakeTime


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


def _poll(time: FakeTime, states: list[str], group_id: str | None = "g", pause: float = 60) -> None:
    """Poll once a minute, while the member has these states."""
    client = Mock()
    client.poll.return_value = {}
    with patch("penstock.kafka.consumer.time", time):
        consumer = Consumer(client, ["orders"])
        for state in states:
            time.sleep(pause)
            client.group_metadata.return_value = Mock(group_id=group_id, state=state)
            assert consumer.poll() == []


def test_a_group_that_is_not_joined_for_six_minutes_is_an_error(time: FakeTime) -> None:
    with pytest.raises(
        BrokerUnavailableError,
        match=r"reading orders: found no way into the group g for 420 s",
    ):
        _poll(time, [MemberState.STABLE, *8 * [MemberState.REBALANCING]])


def test_the_time_between_two_polls_is_none_outside_of_the_group(time: FakeTime) -> None:
    _poll(time, [MemberState.STABLE, MemberState.UNJOINED, MemberState.STABLE], pause=1_000)


@pytest.mark.parametrize("state", [MemberState.UNJOINED, MemberState.REBALANCING])
def test_without_a_group_nothing_is_joined(time: FakeTime, state: str) -> None:
    _poll(time, 9 * [state], group_id=None)


def test_a_rebalance_may_take_its_time(time: FakeTime) -> None:
    _poll(time, 3 * [MemberState.REBALANCING, MemberState.UNJOINED, MemberState.STABLE])
