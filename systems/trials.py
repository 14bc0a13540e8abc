"""Trials of a fault: what was injected, and what was lost, repeated or changed by it.

Each test of a fault leaves a line in `.cache/tests/faults.jsonl`, of which docs/faults.md is made.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LINES = Path(__file__).parents[1] / ".cache/tests/faults.jsonl"
_SHOWN = 3  # differences of a kind in a message


@dataclass
class Trials:
    """The trials of one row of docs/faults.md by one test."""

    row: str
    trials: int = 0
    records: int = 0
    lost: int = 0
    twice: int = 0
    wrong: int = 0
    failed: bool = False  # the test, whatever it had counted by then
    recovered_in: list[float] = field(default_factory=list)

    def count(self, trials: int, *, fired: int) -> None:
        """Count trials, in which the fault happened so often."""
        assert fired >= trials > 0, f"the fault happened {fired} times in {trials} trials"
        self.trials += trials

    def count_seen(self, trials: int) -> None:
        """Count trials in which an assertion has shown the fault."""
        self.count(trials, fired=trials)

    def check(self, found: Iterable[tuple[Hashable, Any]], wanted: Mapping[Any, Any]) -> None:
        """Demand that each record is there once and as it must be; each has a place or a key."""
        pairs = list(found)
        times, by_place = Counter(place for place, _ in pairs), dict(pairs)
        differences = {
            "lost": [place for place in wanted if place not in by_place],
            "twice": [place for place, count in times.items() if count > 1],
            "never sent": [place for place in by_place if place not in wanted],
            "other": [
                (place, by_place[place], wanted[place])
                for place in wanted
                if place in by_place and by_place[place] != wanted[place]
            ],
        }
        self.records += len(wanted)
        self.lost += len(differences["lost"])
        self.twice += len(differences["twice"])
        self.wrong += len(differences["never sent"]) + len(differences["other"])
        assert not any(differences.values()), {
            kind: each[:_SHOWN] for kind, each in differences.items() if each
        }

    @contextmanager
    def recovery(self) -> Iterator[None]:
        """Measure how long it takes until all is well again."""
        began = time.monotonic()
        yield
        self.recovered_in.append(round(time.monotonic() - began, 1))

    def keep(self, test: str) -> None:
        """Leave the line of a test."""
        LINES.parent.mkdir(parents=True, exist_ok=True)
        with LINES.open("a") as file:
            line = {"test": test, "day": time.strftime("%F"), **asdict(self)}
            file.write(json.dumps(line) + "\n")
