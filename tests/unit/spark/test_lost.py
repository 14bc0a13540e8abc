"""Lost records: which ones exactly, and what is none."""

from __future__ import annotations

from unittest.mock import MagicMock, Mock

import pytest

from penstock.errors import LostRecordsError
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.state import losses
from penstock.spark.state.losses import (
    LossWatch,
    OffsetRange,
    lost_ranges,
    parse_offsets,
    planned_ranges,
)

_SENSOR = ("sensor", 0)


def test_offsets_are_parsed_from_sparks_text() -> None:
    found = parse_offsets('{"sensor":{"1":7,"0":3},"orders":{"0":0}}')

    assert found == {("sensor", 1): 7, ("sensor", 0): 3, ("orders", 0): 0}


def test_planned_ranges() -> None:
    starts = {("a", 0): 5, ("a", 1): 9}
    ends = {("a", 1): 9, ("a", 0): 8, ("a", 2): 4}

    assert planned_ranges(starts, ends) == [OffsetRange("a", 0, 5, 8), OffsetRange("a", 2, 0, 4)]


@pytest.mark.parametrize(
    ("first", "earliest", "lost"),
    [
        pytest.param(200, 0, None, id="nothing"),
        pytest.param(250, 250, (200, 250), id="up to the first one that is there"),
        pytest.param(None, 300, (200, 300), id="all of it"),
        pytest.param(None, 900, (200, 300), id="all of it and more behind it"),
        pytest.param(None, 0, None, id="a compacted range"),
        pytest.param(260, 250, (200, 250), id="a gap behind the first one"),
        pytest.param(220, 250, (200, 220), id="deleted while it was read"),
        pytest.param(None, None, (200, 300), id="a partition that is gone"),
    ],
)
def test_lost_ranges(first: int | None, earliest: int | None, lost: tuple[int, int] | None) -> None:
    firsts = {} if first is None else {_SENSOR: first}
    known = {} if earliest is None else {_SENSOR: earliest}

    found = lost_ranges([OffsetRange(*_SENSOR, 200, 300)], firsts, known)

    assert found == ([] if lost is None else [OffsetRange(*_SENSOR, *lost)])


def test_a_range_in_messages() -> None:
    assert str(OffsetRange("sensor", 0, 200, 250)) == "sensor/0 200 to 249"
    assert len(OffsetRange("sensor", 0, 200, 250)) == 50


@pytest.mark.parametrize("earliest", [0, 200])
def test_gaps_alone_need_no_pass_over_the_records(monkeypatch, earliest) -> None:
    """Transactions and compaction leave gaps in every batch."""
    consumer = Mock(**{"find_earliest.return_value": {_SENSOR: earliest}})
    monkeypatch.setattr(losses, "open_consumer", lambda _: consumer)
    records = Mock()

    lost = LossWatch(Mock(), LostOffsets.STOP).check(
        records, 7, [OffsetRange(*_SENSOR, 200, 300)], 90
    )

    assert lost == ()
    assert records.mock_calls == []
    consumer.close.assert_called_once_with()


def test_one_lost_record_is_noticed(monkeypatch) -> None:
    consumer = Mock(**{"find_earliest.return_value": {_SENSOR: 201}})
    monkeypatch.setattr(losses, "open_consumer", lambda _: consumer)
    monkeypatch.setattr(losses, "F", MagicMock())  # it needs a session
    records = MagicMock()
    first = {"topic": "sensor", "partition": 0, "first": 201}
    records.groupBy().agg().collect.return_value = [first]

    with pytest.raises(LostRecordsError, match=r"found 1 records deleted .*: sensor/0 200 to 200"):
        LossWatch(Mock(), LostOffsets.STOP).check(records, 7, [OffsetRange(*_SENSOR, 200, 300)], 99)
