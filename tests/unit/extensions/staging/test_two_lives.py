"""A job reads its topics from the start a second time: the end is that of one life, and a model's.

Each life reads the topics in an order of its own, dies at any of its calls, and retries meanwhile.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.records import find_record_id
from tests.unit.extensions.staging.joining import PLAN, MemoryStore, World, open_tables
from tests.unit.extensions.staging.mortal import Killed, Mortal

_Records = list[tuple[Any, int]]
_Final = dict[str, tuple[str, bool]]  # by key: the source of the row, and whether it is deleted


@dataclass
class _Model:
    """What three topics make of the final table, whatever the order between them.

    Customers below 4 and lines below 3 are sent. All versions of a trip need the same customer.
    """

    topics: dict[str, _Records]
    finals: _Final = field(default_factory=dict)
    parked: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, chance: random.Random) -> _Model:
        """Return topics made by chance, and their end."""
        trips: _Records = []
        newest: dict[str, tuple[Any, int]] = {}
        for offset in range(chance.randrange(4, 12)):
            number = chance.randrange(6)
            trip = {"trip": f"t{number}", "buyer": f"c{number}", "order": "o"}
            event = trip | {"line": chance.randrange(3)} if chance.random() < 0.8 else f"t{number}"
            trips.append((event, offset))
            newest[f"t{number}"] = event, offset
        topics = {
            "customers": [({"customer": f"c{n}"}, at) for at, n in enumerate([*range(4)] * 2)],
            "lines": [({"order": "o", "line": n}, n) for n in range(3)],
            "trips": trips,
        }
        finals, parked = {}, set()
        for key, (event, offset) in newest.items():
            if isinstance(event, str) or int(key[1:]) < 4:
                finals[key] = f"trips/0/{offset}", isinstance(event, str)
            else:
                parked.add(f"trips/0/{offset}/{1_000 + offset}/join")
        return cls(topics, finals, parked)


class _Job:
    """Lives of a job over the same tables, dead letters and bucket."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.tables, self.store = open_tables(PLAN), MemoryStore()
        self._now_s = 1_000

    def live(self, topics: dict[str, _Records]) -> None:
        """Read all topics into new tables, then retry until nothing is due any more."""
        for name, table in self.tables.tables.items():
            # Who forgets the waiting table does no harm.
            if name != "errors" and (name != "waiting" or self._chance.random() < 0.5):
                table.parts.clear()
        left = {name: list(records) for name, records in topics.items()}
        retry_at = self._chance.randrange(1, 9)
        for number in range(1_000):
            names = [name for name in left if left[name]]
            if not names:
                break
            # Some topics of a batch, a table after the other.
            names = self._chance.sample(names, self._chance.randint(1, len(names)))
            batch = {name: left[name][: self._chance.randint(1, 4)] for name in names}
            self._do(lambda world, batch=batch: [world.stage(*each) for each in batch.items()])
            for name, records in batch.items():
                del left[name][: len(records)]
            self._check_waiting()
            if number == retry_at:  # one failure, which parks nothing
                self._retry()
        for _ in range(4):
            self._retry()
        # A run that died before it parked what it claimed leaves that to a later one.
        self._now_s += 10_000
        self._begin(lambda world: world.retry(f"last-{self._now_s}"), self.tables)

    def _retry(self) -> None:
        self._now_s += 10_000
        self._do(lambda world: world.retry(f"at-{self._now_s}"))

    def _do(self, step: Callable[[World], object]) -> None:
        """Take a step; if it dies at a call, take it once more from its start."""
        last, performed = self._chance.randrange(1, 40), self._chance.random() < 0.5
        mortal: Any = Mortal(self.tables, last, performed)
        try:
            self._begin(step, mortal)
        except Killed:
            self._begin(step, self.tables)

    def _begin(self, step: Callable[[World], object], client: Any) -> None:
        world = World(client, store=self.store)
        world.now_s = self._now_s
        step(world)

    def _check_waiting(self) -> None:
        """Every trip that is not in the final table has a dead letter that is not done."""
        joined = {row["trip"]: row["_order"] for row in self.tables.rows("p-done")}
        letters = {row["id"]: row for row in self.tables.rows("errors")}
        for row in self.tables.rows("p-trips"):
            if joined.get(row["trip"], "") < row["_order"]:
                letter = letters[f"{find_record_id(row)}/join"]
                assert "nextAttemptAt" in letter or "parkedAt" in letter

    def check(self, model: _Model) -> None:
        """Compare the end with the model."""
        rows = self.tables.rows("p-done")
        finals = {row["trip"]: (row["_source"], row.get("_deleted", False)) for row in rows}
        older = finals.keys() - model.finals.keys()  # of trips whose newest record is parked
        assert all(finals.pop(each)[1] for each in older)
        assert finals == model.finals
        for row in rows:
            if not row.get("_deleted"):
                assert row["customer"] == {"customer": row["buyer"]}
        letters = {row["id"]: row for row in self.tables.rows("errors")}
        ends = {each: sorted(row.keys() & {"doneAt", "parkedAt"}) for each, row in letters.items()}
        assert {each for each, end in ends.items() if end == ["parkedAt"]} == model.parked
        assert all(end == ["doneAt"] for each, end in ends.items() if each not in model.parked)
        assert not any("nextAttemptAt" in row for row in letters.values())
        # Items that a death left, or of a parked record that is late again, expire.
        waiting = {row["id"] for row in self.tables.rows("waiting") if row["driver"] != "-"}
        assert waiting <= letters.keys()
        names = [name for name in self.store.objects if name.startswith("records/")]
        assert set(names) == {f"records/{each}.json" for each in model.parked}

    def late(self) -> set[str]:
        """Return the ids of the records that have been late so far."""
        return {row["id"] for row in self.tables.rows("errors")}


def test_two_lives_of_a_job_end_as_one_and_as_the_model(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    late = Counter[str]()
    for _ in range(trials(30, 1_500)):
        chance = random.Random(seeded.randrange(2**32))
        model, job = _Model.of(chance), _Job(chance)
        job.live(model.topics)
        job.check(model)
        late["in the first life"] += len(job.late() - model.parked)
        for _ in range(2):
            job.live(model.topics)
            job.check(model)
    assert late["in the first life"] > 10
