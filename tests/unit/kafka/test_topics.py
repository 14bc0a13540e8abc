"""How many topics one request creates."""

from __future__ import annotations

import pytest

from penstock.kafka.topics import Topic, _divide


@pytest.mark.parametrize(
    ("partitions", "sizes"),
    [
        ([1] * 120, [50, 50, 20]),
        ([-1] * 51, [50, 1]),
        ([500] * 21, [20, 1]),
        ([20_000, 1, 9_999, 1], [1, 2, 1]),
        ([], []),
    ],
)
def test_a_request_has_few_topics_and_partitions(partitions: list[int], sizes: list[int]) -> None:
    topics = [Topic(f"t-{at}", partitions=count) for at, count in enumerate(partitions)]

    some = list(_divide(topics))

    assert [len(each) for each in some] == sizes
    assert [each for part in some for each in part] == topics
