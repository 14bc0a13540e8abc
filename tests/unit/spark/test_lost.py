"""Lost records: which ones exactly, and what is none."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from penstock.errors import LostRecordsError
from penstock.spark.query import stream
from penstock.spark.query.stream import KafkaWatch
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.state import losses
from penstock.spark.state.losses import (
    LossWatch,
    OffsetRange,
    lost_ranges,
    parse_offsets,
    planned_ranges,
)
from penstock.spark.state.topic_watch import TopicChanges

_SENSOR = ("sensor", 0)


def test_offsets_are_parsed_from_sparks_text() -> None:
    found = parse_offsets('{"sensor":{"1":7,"0":3},"orders":{"0":0}}')

    assert found == {("sensor", 1): 7, ("sensor", 0): 3, ("orders", 0): 0}


def test_planned_ranges() -> None:
    starts = {("a", 0): 5, ("a", 1): 9}
    ends = {("a", 1): 9, ("a", 0): 8, ("a", 2): 4}

    assert planned_ranges(starts, ends) == [OffsetRange("a", 0, 5, 8), OffsetRange("a", 2, 0, 4)]


@pytest.mark.parametrize(
    ("removed", "lost"),
    [
        pytest.param([], [], id="only gaps"),
        pytest.param([(200, 250)], [(200, 250)], id="the first ones"),
        pytest.param([(220, 250)], [(220, 250)], id="while it was read"),
        pytest.param([(290, 300)], [(290, 300)], id="the last ones"),
        pytest.param([(0, 900)], [(200, 300)], id="all of it, and more around it"),
        pytest.param([(300, 400), (100, 200)], [], id="of other batches"),
        pytest.param([(260, 270), (210, 220)], [(210, 220), (260, 270)], id="twice"),
        pytest.param([(200, 250), (220, 230)], [(200, 250)], id="again, before it was more"),
        pytest.param([(220, 250), (200, 240)], [(200, 240), (240, 250)], id="more when repeated"),
    ],
)
def test_lost_ranges(removed, lost) -> None:
    found = lost_ranges(
        [OffsetRange(*_SENSOR, 200, 300)], [OffsetRange(*_SENSOR, *each) for each in removed]
    )

    assert found == [OffsetRange(*_SENSOR, *each) for each in lost]


def test_partitions_of_lost_ranges() -> None:
    planned = [OffsetRange("sensor", number, 0, 9) for number in range(2)]

    assert lost_ranges(planned, [OffsetRange("sensor", 1, 0, 3), OffsetRange("a", 0, 0, 3)]) == [
        OffsetRange("sensor", 1, 0, 3)
    ]


def test_a_range_in_messages() -> None:
    assert str(OffsetRange("sensor", 0, 200, 250)) == "sensor/0 200 to 249"
    assert len(OffsetRange("sensor", 0, 200, 250)) == 50


def _watch(lines, found):
    """Check a batch with two topics, of which so many records were found."""
    take = Mock(return_value=lines)
    spark = Mock(_jvm=SimpleNamespace(**{losses._REMOVED: Mock(take=take)}))
    planned = [OffsetRange(*_SENSOR, 200, 300), OffsetRange("orders", 3, 7, 8)]
    return LossWatch(LostOffsets.STOP).check(spark, 7, planned, found), take


def test_a_batch_that_has_all_records_asks_nobody() -> None:
    lost, take = _watch("sensor 0 200 201", 101)

    assert lost == ()
    assert take.mock_calls == []


def test_gaps_alone_are_not_losses() -> None:
    """Transactions and compaction leave gaps in every batch."""
    lost, take = _watch("", 90)

    assert lost == ()
    (places,) = take.call_args.args
    assert sorted(places.splitlines()) == ["orders 3", "sensor 0"]


@pytest.mark.parametrize("start", [200, 250])
def test_one_lost_record_is_noticed(start) -> None:
    """Also behind the first one that was read."""
    with pytest.raises(
        LostRecordsError, match=rf"found 1 records deleted .*: sensor/0 {start} to {start};"
    ):
        _watch(f"sensor 0 {start} {start + 1}", 100)


@pytest.mark.parametrize("needs_first", [False, True])
def test_what_a_new_topic_lost_before_is_no_loss(monkeypatch, needs_first) -> None:
    """But of a table of changes, and in a partition that is new in a known topic."""
    new = OffsetRange(*_SENSOR, 0, 300)
    planned = TopicChanges((new, OffsetRange("orders", 3, 0, 8)), new=frozenset({"sensor"}))
    topics, take = Mock(check=Mock(return_value=planned)), Mock()
    monkeypatch.setattr(stream, "TopicWatch", Mock(return_value=topics))
    monkeypatch.setattr(stream, "take_removed", take)
    topics.begin.return_value = planned
    records = Mock()

    read = KafkaWatch(Mock(), Mock(), Mock(), needs_first=needs_first).before(records, 7)

    assert read is records
    if needs_first:
        assert (topics.begin.mock_calls, take.mock_calls) == ([], [])
    else:
        take.assert_called_once_with(records.sparkSession, [new])
        topics.begin.assert_called_once_with(planned, take.return_value)
