"""Missing offsets are looked up by few reads of a partition, and by no more than are allowed."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import TopicPartition

from penstock.kafka import FoundOffsets, KafkaSettings, Security, look_up_offsets, offsets

_PLACE = TopicPartition("t", 0)
_END = 2_000_000


class Client:
    """A consumer of a partition whose transactions are nine records and a marker each."""

    def __init__(self) -> None:
        self.at = 0
        self.reads = 0

    def partitions_for_topic(self, _topic: str) -> set[int]:
        return {0}

    def assign(self, places: list[TopicPartition]) -> None:
        assert places == [_PLACE]

    def beginning_offsets(self, _places: object, _ms: int) -> dict[TopicPartition, int]:
        return {_PLACE: 0}

    def end_offsets(self, _places: object, _ms: int) -> dict[TopicPartition, int]:
        return {_PLACE: _END}

    def seek(self, _place: TopicPartition, offset: int) -> None:
        self.reads += 1
        self.at = offset

    def position(self, _place: TopicPartition) -> int:
        return self.at

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        at, self.at = self.at, self.at + 500
        found = (offset for offset in range(at, self.at) if offset % 10 != 9)
        return {_PLACE: [SimpleNamespace(offset=each, value=b"a") for each in found]}

    def close(self) -> None:
        pass


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    client = Client()
    monkeypatch.setattr(offsets, "connect", lambda *_, **__: client)
    return client


def _look_up(*runs: range) -> FoundOffsets:
    return look_up_offsets(KafkaSettings(("b:9092",), security=Security.TLS), {("t", 0): runs})[
        "t", 0
    ]


def _markers(first: int, step: int, count: int) -> Iterator[range]:
    return (range(at, at + 1) for at in range(first, first + step * count, step))


def test_short_runs_that_are_near_each_other_are_read_at_once(client: Client) -> None:
    found = _look_up(*_markers(9, 10, 9_000), range(90_000, 90_003))

    assert found == FoundOffsets(0, 9_000, (range(90_000, 90_003),))
    assert client.reads == 9


def test_offsets_that_are_too_many_are_told_apart(client: Client) -> None:
    long, far = range(150_000), list(_markers(200_009, 1_000, 1_200))

    found = _look_up(long, *far)

    assert found == FoundOffsets(0, 1_000, (long, *far[1_000:]), unread=150_200)
    assert client.reads == 1_000
