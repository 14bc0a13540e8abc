"""Old snapshots of a table are expired by the job that writes to it, so their number is bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from unittest.mock import Mock

import pytest

from penstock.spark.lake.expiration import HOUR_MS, Expiration
from penstock.spark.lake.iceberg import IcebergTable
from penstock.tables import Commit, Marker, WriterRecord, list_writers

_WRITER = WriterRecord.property_of("q")


@dataclass
class _Table:
    """A table with a snapshot at each of these hours, of a batch of query q each."""

    hours: list[float]
    name: str = "lake.db.t"
    written: dict[str, str] = field(
        default_factory=lambda: {_WRITER: '{"batch": 0, "parts": 0, "sequence": 0}'}
    )
    expired_at: list[float] = field(default_factory=list)
    walks: int = 0

    def properties(self):
        return self.written

    def set_properties(self, properties):
        assert not self.expired_at, "markers expire before their records are up to date"
        self.written |= properties

    def count_snapshots(self):
        return len(self.hours)

    def oldest_ms(self):
        return int(self.hours[0] * HOUR_MS)

    def sequence(self):
        return len(self.hours)

    def commits(self):
        self.walks += 1
        for number in reversed(range(len(self.hours))):
            yield Commit(number + 1, number == 0, Marker("q", number, 0))

    def expire(self, before_ms):
        self.expired_at.append(before_ms / HOUR_MS)
        self.hours = [hour for hour in self.hours[:-1] if hour >= self.expired_at[-1]] + self.hours[
            -1:
        ]


@pytest.mark.parametrize(
    ("hours", "kept", "expired_at"),
    [
        pytest.param(120, {}, [], id="none is as old as the default of five days"),
        pytest.param(125.9, {}, [], id="one is, but by less than a twentieth"),
        pytest.param(132.1, {}, [12.1], id="one is by more than a tenth"),
        pytest.param(
            60,
            {"history.expire.max-snapshot-age-ms": str(50 * HOUR_MS)},
            [10],
            id="the table says less",
        ),
        pytest.param(
            130,
            {"history.expire.max-snapshot-age-ms": str(200 * HOUR_MS)},
            [],
            id="the table says more",
        ),
    ],
)
def test_snapshots_are_kept_for_as_long_as_the_table_says(hours, kept, expired_at) -> None:
    table = _Table([0, 1])
    table.written |= kept

    Expiration(lambda: hours * 3_600).expire(table)

    assert table.expired_at == pytest.approx(expired_at, abs=0.001)


def test_tables_of_one_job_expire_snapshots_at_different_times() -> None:
    """Each expiry reads a file of each snapshot that is kept."""
    tables = [_Table([0, 1], name=f"lake.cdc.film_{at}", written={}) for at in range(50)]
    ages = [age for age in range(120, 140) for _ in tables]
    for age, table in zip(ages, 20 * tables, strict=True):
        Expiration(lambda age=age: age * 3_600.0).expire(table)

    first = [table.expired_at[0] for table in tables]
    assert max(map(first.count, first)) <= 15


def test_of_too_many_snapshots_only_those_of_a_day_are_kept() -> None:
    now = 100.0
    table = _Table([now * at / 400 for at in range(400)])  # one each quarter of an hour

    Expiration(lambda: now * 3_600, most=400).expire(table)
    assert table.expired_at == []
    Expiration(lambda: now * 3_600, most=399).expire(table)

    assert table.expired_at == [76]
    assert len(table.hours) == 96


def test_the_number_of_snapshots_is_bounded_over_a_year_of_batches() -> None:
    table, clock = _Table([0.0]), 0.0
    expiration = Expiration(lambda: clock * 3_600, most=60)
    most = 0
    for _ in range(2 * 24 * 365):
        clock += 0.5
        table.hours.append(clock)
        table.expired_at.clear()
        expiration.expire(table)
        most = max(most, len(table.hours))

    assert most <= 64


def test_markers_are_recorded_before_they_expire() -> None:
    table = _Table([0, 1, 2])

    Expiration(lambda: 200 * 3_600).expire(table)

    assert table.expired_at == [80]
    assert list_writers(table.properties()) == {"q": WriterRecord(2, 1, 3)}


def test_a_snapshot_that_a_tag_keeps_is_not_expired_at_each_batch() -> None:
    seconds = [1_000 * 3_600.0]
    table = _Table([0, 1])
    table.expire = table.expired_at.append
    expiration = Expiration(lambda: seconds[0])

    for later in (0, 10, 3_580, 10):
        seconds[0] += later
        table.written.pop(_WRITER, None)
        expiration.expire(table)

    assert len(table.expired_at) == 2


@pytest.mark.parametrize(
    ("schemas", "specs", "is_cleaned"), [(1, 1, False), (2, 1, True), (1, 2, True)]
)
def test_snapshots_that_are_kept_are_read_for_old_columns_only(schemas, specs, is_cleaned) -> None:
    table, known = IcebergTable.__new__(IcebergTable), Mock()
    table._table = known
    metadata = known.operations().current()
    metadata.schemas().size.return_value, metadata.specs().size.return_value = schemas, specs

    table.expire(1)

    cleaned = known.expireSnapshots().expireOlderThan(1).cleanExpiredMetadata
    cleaned.assert_called_once_with(is_cleaned)


def test_a_table_has_ten_thousand_snapshots_at_most() -> None:
    def expire(snapshots: int) -> list[float]:
        table = _Table([100 * at / snapshots for at in range(snapshots)])
        Expiration(lambda: 100 * 3_600).expire(table)
        return table.expired_at

    assert expire(10_000) == []
    assert expire(10_001) == [76]


def test_snapshots_are_read_once_for_all_queries_that_ever_wrote() -> None:
    table = _Table([0, 130])
    for query in ("over", "long-over"):
        table.written[WriterRecord.property_of(query)] = '{"batch": 0, "parts": 0, "sequence": 0}'

    Expiration(lambda: 140 * 3_600).expire(table)

    assert table.expired_at
    assert table.walks == 1
    assert {each.sequence for each in list_writers(table.written).values()} == {2}
