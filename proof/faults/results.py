"""The file of counts, and the tables that are made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from proof.faults.oracle import Count
from systems.place import ROOT

FILE: Final = ROOT / "proof/faults.json"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The count of a system under a fault, and how it got there.

    `stopped` has what was missing until somebody began it again by hand.
    """

    count: Count
    stopped: int
    restarts: int
    trouble: str

    def describe(self) -> str:
        """Return a few words for a table."""
        count = self.count
        words = [
            f"{number:,} {word}"
            for number, word in (
                (count.lost, "lost"),
                (count.twice, "twice"),
                (count.strange, "that nobody sent"),
            )
            if number
        ]
        letters = [f"{count.letters:,} in dead letters"] if count.letters else []
        hand = ["begun again by hand"] if self.stopped else []
        bold = [f"**{each}**" for each in (*words, *hand)]
        return ", ".join([*bold, *letters]) or "kept"


def describe(outcome: Outcome | None) -> str:
    """Return a few words for a table: of an outcome, or that the fault did not happen."""
    return outcome.describe() if outcome else "no trial"


@dataclass(frozen=True, slots=True)
class Results:
    """The last outcomes by fault and system, and the days, commits and seeds of their trials.

    A fault that did not happen in the newest run has none: an older outcome is not kept.
    """

    runs: Mapping[str, Mapping[str, Mapping[str, Any]]]
    outcomes: Mapping[str, Mapping[str, Outcome | None]]

    @classmethod
    def read(cls, path: Path = FILE) -> Self:
        """Read a file; without one there are no outcomes."""
        if not path.exists():
            return cls({}, {})
        known = json.loads(path.read_text())
        outcomes = {
            fault: {
                system: Outcome(**{**each, "count": Count(**each["count"])}) if each else None
                for system, each in found.items()
            }
            for fault, found in known["outcomes"].items()
        }
        return cls(known["runs"], outcomes)

    def keep(self, fault: str, run: Mapping[str, Any], found: Mapping[str, Outcome | None]) -> Self:
        """Return these results with those of systems under a fault in place of their last ones."""
        runs = dict(self.runs.get(fault, {})) | dict.fromkeys(found, run)
        outcomes = dict(self.outcomes.get(fault, {})) | dict(found)
        return replace(
            self, runs={**self.runs, fault: runs}, outcomes={**self.outcomes, fault: outcomes}
        )

    def write(self, path: Path = FILE) -> None:
        """Write the file."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def describe_runs(self) -> Iterator[str]:
        """Yield how many records the trials had, and of when and what they are."""
        outcomes = [each for found in self.outcomes.values() for each in found.values() if each]
        sent = [each.count.sent for each in outcomes]
        least, most = min(sent, default=0), max(sent, default=0)
        yield f"The trials have {least:,} to {most:,} records each. They are of"
        runs = {tuple(run.values()) for found in self.runs.values() for run in found.values()}
        told = [f"{day}, `{commit}`, seed {seed}" for day, commit, seed in sorted(runs)]
        yield from (f"{each};" for each in told[:-1])
        yield f"{told[-1]}."

    def make_table(self, titles: Mapping[str, str], faults: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of a table with a row for each fault and a column for each system."""
        systems = {name: title for name, title in titles.items()
                   if any(name in found for found in self.outcomes.values())}  # fmt: skip
        yield f"| fault | {' | '.join(systems.values())} |"
        yield f"| --- |{' --- |' * len(systems)}"
        for name, title in faults.items():
            found = self.outcomes.get(name, {})
            cells = [describe(found[each]) if each in found else "-" for each in systems]
            yield f"| {title} | {' | '.join(cells)} |"

    def list_troubles(
        self, titles: Mapping[str, str], faults: Mapping[str, str]
    ) -> Iterator[tuple[str, str]]:
        """Yield the outcomes that are not `kept`, and what the system itself says."""
        for name, title in faults.items():
            for system, each in self.outcomes.get(name, {}).items():
                if each and each.trouble:
                    yield f"{title}: {titles[system]}", each.trouble
