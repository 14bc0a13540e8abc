"""The transactions of a seed: each kind of change, of keys that grow."""

from __future__ import annotations

import re
from itertools import islice
from random import Random

from campaign.changes import make_transactions

_SOME = 1_000


def _make(seed: int) -> list[str]:
    return list(islice(make_transactions(Random(seed)), _SOME))


def test_a_seed_makes_the_same_transactions_of_all_kinds() -> None:
    made = _make(1)

    assert made == _make(1)
    assert made != _make(2)
    text = "\n".join(made)
    for kind in ("INSERT", "DELETE", "SET title", "SET plot", "SET number", "SET id", "TRUNCATE"):
        assert kind in text
    assert sum("ROLLBACK" in each for each in made) > _SOME // 20


def test_a_row_is_changed_no_more_when_others_are_newer() -> None:
    newest = 5
    for each in "\n".join(_make(1)).split(";"):
        if " film " in each:
            keys = [int(key) for key in re.findall(r"(?:id >?= |VALUES \(|SET id = )(\d+)\b", each)]
            assert min(keys) >= newest - 12
            newest = max(newest, *keys)
    assert newest > _SOME // 4
