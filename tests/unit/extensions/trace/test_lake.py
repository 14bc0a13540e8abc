"""The file of a row is found by what manifests say, and its snapshot by the entry of the file."""

from __future__ import annotations

import sys
from datetime import timedelta
from unittest.mock import Mock

import pytest

from penstock.errors import OperationError
from penstock.extensions.trace import files, lake
from penstock.extensions.trace.files import find_file
from penstock.extensions.trace.lake import find_files
from penstock.extensions.trace.model import State
from penstock.operations import ReaderTable
from penstock.records import RowShape, Source
from tests.unit.extensions.trace.world import NOON, NOON_MS, World, world

__all__ = ["world"]

_SEVEN = Source("sensor", 0, 7)


def test_only_files_that_may_have_the_row_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.append(1, 9)  # 7 is between its least and its greatest offset
    first = world.append(7).current_snapshot()
    world.append(8, 9)
    world.append(7, event_time=NOON + timedelta(days=1))
    name = f"{world.lake}.readings"
    read: list[str] = []
    count = lake._count_rows
    monkeypatch.setattr(
        lake,
        "_count_rows",
        lambda table, file, place: read.append(file.file.file_path) or count(table, file, place),
    )

    (found,) = find_files(name, _SEVEN, None, NOON_MS)

    assert (found.snapshot, found.committed_ms) == (first.snapshot_id, first.timestamp_ms)
    assert (found.operation, found.rows, len(read)) == ("append", 1, 2)
    assert found.location in read
    assert len(find_files(name, _SEVEN, None, None)) == 2
    assert find_files(name, Source("sensor", 1, 7), None, None) == ()
    monkeypatch.setattr(lake, "_MOST_FILES", 1)
    with pytest.raises(OperationError, match="2 files may have the record, expected at most 1"):
        find_files(name, _SEVEN, None, NOON_MS)


def test_a_row_with_an_event_time_that_is_far_from_kafkas_is_found(world: World) -> None:
    """Its column `_event_time` has Kafka's timestamp."""
    world.append(7)
    world.append(7, event_time=NOON - timedelta(days=20), written=NOON - timedelta(days=1))
    name = f"{world.lake}.readings"

    (found,) = find_files(name, _SEVEN, NOON_MS, NOON_MS - 40 * 86_400_000)

    assert found.rows == 1


@pytest.mark.parametrize(("value", "known"), [(NOON_MS, NOON_MS), (20_779, None), ("?", None)])
def test_a_date_is_not_the_event_time_of_a_row(value: int | str, known: int | None) -> None:
    table = ReaderTable("lake", "readings", RowShape(("id",), event_time="paid"))
    decoded = Mock(event={"paid": value})

    assert files._find_event_time(table, decoded) == known


def test_a_time_that_no_date_has_does_not_narrow_the_search(world: World) -> None:
    world.append(7)

    late = 1_795_234_015_788_000
    (found,) = find_files(f"{world.lake}.readings", _SEVEN, late, late)
    assert found.rows == 1


def test_a_row_of_another_record_at_the_place_is_not_found(world: World) -> None:
    world.append(7)
    old = world.append(7, 8, written=NOON - timedelta(minutes=1)).current_snapshot()
    world.append(6, 8, written=NOON - timedelta(minutes=1))  # 7 is between them
    name = f"{world.lake}.readings"

    (found,) = find_files(name, _SEVEN, NOON_MS - 60_000, None)

    assert (found.snapshot, found.rows) == (old.snapshot_id, 1)
    assert find_files(name, _SEVEN, NOON_MS + 1, None) == ()


def test_a_row_that_is_there_twice_is_counted(world: World) -> None:
    world.append(7, copies=2)

    assert [each.rows for each in find_files(f"{world.lake}.readings", _SEVEN, None, None)] == [2]


def test_a_snapshot_that_has_expired_has_no_time(world: World) -> None:
    old = world.append(7).current_snapshot()
    table = world.append(8)
    table.maintenance.expire_snapshots().by_id(old.snapshot_id).commit()

    (found,) = find_files(f"{world.lake}.readings", _SEVEN, None, None)

    assert (found.snapshot, found.operation, found.committed_ms) == (old.snapshot_id, "", None)


def test_a_table_that_cannot_be_read_is_one_sentence(world: World) -> None:
    with pytest.raises(OperationError, match=r"\.readings is not there yet$"):
        find_files(f"{world.lake}.readings", _SEVEN, None, None)
    table = world.append(7)
    table.io.delete(table.current_snapshot().manifest_list)

    with pytest.raises(OperationError, match=r"\.readings cannot be read: "):
        find_files(f"{world.lake}.readings", _SEVEN, None, None)


def test_without_the_extra_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "penstock.extensions.trace.lake", None)

    (step,) = find_file(ReaderTable("lake", "lake.readings", None), _SEVEN, None, None)

    assert step.state is State.NOT_SEEN
    assert step.seen.endswith("pip install '.[cli,lake]' in a clone brings it")
