"""Changes of a row of DynamoDB come in any order, with and without values out of line."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from penstock.extensions.cdc.spark.items import Item, ItemChange

_LONG = ("plot", "tags")


def _change(lsn: int, title: str, plot: str | None, place: int | None) -> ItemChange:
    return ItemChange({"id": "1", "title": title, "plot": plot}, lsn, 0, {"plot": place})


_INSERT, _WITH, _WITHOUT = (
    _change(10, "a", "first", 10),
    _change(20, "b", "second", 20),
    _change(30, "c", None, None),
)


def _name(order: tuple[ItemChange, ...]) -> str:
    return "-".join(str(each.lsn) for each in order)


@pytest.mark.parametrize("order", list(permutations([_INSERT, _WITH, _WITHOUT])), ids=_name)
def test_changes_in_any_order_make_one_item(order: tuple[ItemChange, ...]) -> None:
    item = None
    for change in (*order, *order):
        item = change.merge(item) or item

    assert item == {
        "id": "1", "title": "c", "plot": "second", "_lsn": 30, "_offset": 0,
        "_older_lsn": {"plot": 20},
    }  # fmt: skip
    assert _INSERT.merge(item) is None


def test_a_whole_change_leaves_no_older_value() -> None:
    item = _WITHOUT.merge(None)
    assert item is not None
    assert item["_older_lsn"] == {"plot": -1}

    item = _change(40, "d", "third", 40).merge(item)

    assert item == {"id": "1", "title": "d", "plot": "third", "_lsn": 40, "_offset": 0}


def test_a_value_of_before_a_deletion_is_not_that_of_the_row_after_it() -> None:
    deletion = ItemChange({"id": "1", "_deleted": True}, 25, 0, {"plot": 25})
    late = _WITHOUT.merge(None)
    assert late is not None
    with_value = _WITH.merge(late)
    assert with_value is not None
    assert with_value["plot"] == "second"

    item = deletion.merge(with_value)

    assert item is not None
    assert (item["plot"], item["_older_lsn"]) == (None, {"plot": 25})
    found = _WITHOUT.merge(deletion.merge(None))
    assert found is not None
    assert (found["plot"], found["_older_lsn"]) == (None, {"plot": 25})
    assert _WITH.merge(found) is None


def test_generated_histories_in_any_order_of_two_partitions(seeded: Random) -> None:
    """Batches have any number of changes of either partition, and may come again."""
    for _ in range(1_000):
        changes, row = _make_history(seeded)
        moved = seeded.choice([at for at, each in enumerate(changes) if each.offset % 2 == 0])
        left = changes[:moved], changes[moved:]
        item: Item | None = None
        while any(left):
            sizes = [seeded.randint(0, len(each)) for each in left]
            batch = [
                change for each, size in zip(left, sizes, strict=True) for change in each[:size]
            ]
            left = left[0][sizes[0] :], left[1][sizes[1] :]
            for _ in range(seeded.randint(1, 2) if batch else 0):
                item = _find_net(batch).merge(item) or item
        assert item is not None
        if row is None:
            assert item["_deleted"]
        else:
            assert {name: item[name] for name in row} == row


def _make_history(random: Random) -> tuple[list[ItemChange], dict[str, Any] | None]:
    """Return changes of a row, and what it is in the end."""
    row: dict[str, Any] | None = None
    changes = []
    for offset in range(random.randint(1, 12)):
        lsn = offset // 2  # of two changes in one transaction, after the commit of another one
        places = dict.fromkeys(_LONG, lsn)
        if row is None:
            row = dict.fromkeys(("title", *_LONG), offset)
        elif random.random() < 0.3:
            row = None
        else:
            given = [each for each in _LONG if random.random() < 0.4]
            row |= dict.fromkeys(("title", *given), offset)
            places = {each: lsn if each in given else None for each in _LONG}
        item = {"_deleted": True} if row is None else {**row, **_find_lost(places)}
        changes.append(ItemChange({"id": "1", **item}, lsn, offset, places))
    return changes, row


def _find_lost(places: dict[str, int | None]) -> dict[str, str]:
    return {name: "lost" for name, place in places.items() if place is None}


def _find_net(batch: list[ItemChange]) -> ItemChange:
    """Return the last change, with values of those before it, as `find_net` does."""
    ordered = sorted(batch, key=lambda each: (each.lsn, each.offset))
    last = ordered[-1]
    item, places = dict(last.item), dict(last.places)
    for name in _LONG:
        has_it = [each for each in ordered if each.places[name] is not None]
        if places[name] is None and has_it:
            item[name], places[name] = has_it[-1].item.get(name), has_it[-1].lsn
    return ItemChange(item, last.lsn, last.offset, places)
