"""The last soak of half an hour: its figures and series as JSON, of which docs/faults.md tells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from campaign.growth import MEASURES, list_lags
from campaign.history import Sample

KEPT: Final = Path(__file__).parents[1] / "tests/soak.json"
LAG: Final = "lag in records"
_LIST: Final = re.compile(r"\[[^\[\]{}]*\]")
Series = Mapping[str, Sequence[int | None]]  # by name, a value for each second of a soak


@dataclass(frozen=True, slots=True)
class Soak:
    """A soak, with the values of its programs and readers by the names of their plots.

    `peak` and `rate` are records a second: without faults and pauses, and those of the soak.
    """

    day: str
    commit: str
    seed: int
    minutes: int
    events: int
    peak: float
    rate: float
    drivers: int
    problems: int
    faults: Sequence[float]
    seconds: Sequence[float]
    plots: Mapping[str, Series]

    def write(self, path: Path) -> None:
        """Write it, each series on a line."""
        text = json.dumps(asdict(self), indent=1)
        path.write_text(_LIST.sub(lambda found: " ".join(found[0].split()), text) + "\n")

    @classmethod
    def read(cls, path: Path = KEPT) -> Self | None:
        """Read the one that was kept, None if there was none."""
        return cls(**json.loads(path.read_text())) if path.exists() else None

    def describe(self) -> str:
        """Return its figures as a paragraph of Markdown."""
        found = f"**{self.problems:,} problems**" if self.problems else "no problem"
        return (
            f"On {self.day} (`{self.commit}`, seed {self.seed}), {self.events:,} events, "
            f"{self.minutes} minutes of them with {len(self.faults)} faults: then {self.rate:.0f} "
            f"records a second, where all programs carried {self.peak:.0f} before. "
            f"{self.drivers} drivers ran, and the oracle found {found}."
        )


def make_soak(samples: Sequence[Sample], **figures: Any) -> Soak:
    """Return a soak of its samples and its other figures."""
    known = [each for each in samples if each.records]
    first, last = known[0], known[-1]
    written = last.records["topic"] - first.records["topic"]
    return Soak(
        minutes=round(samples[-1].second / 60),
        rate=round(written / (last.second - first.second), 1),
        seconds=[each.second for each in samples],
        plots=_list_plots(samples),
        **figures,
    )


def _list_plots(samples: Sequence[Sample]) -> dict[str, Series]:
    """Return what samples say, by the names of the plots; of many processes the largest one."""
    plots: dict[str, Series] = {}
    programs = sorted({name for sample in samples for name in sample.programs})
    for measure in MEASURES:
        plots[measure.name] = {
            name: [
                max(map(measure.read, sample.programs.get(name, ())), default=None)
                for sample in samples
            ]
            for name in programs
        }
    plots[LAG] = {
        reader: [lag.get(sample.second) for sample in samples]
        for reader, lag in ((name, dict(points)) for name, points in list_lags(samples).items())
    }
    return plots
