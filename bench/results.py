"""The file of results: the figures of each rung, and the runs that they are of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Results:
    """Figures by rung; each names its run, by the time at which that began.

    Attributes:
        runs: the machine and the form of each run.
        rungs: the figure of each rung, its parts, its seconds, and how busy others were.
    """

    path: Path
    runs: dict[str, dict[str, Any]]
    rungs: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file, if it is there."""
        known = json.loads(path.read_text()) if path.exists() else {}
        return cls(path, known.get("runs", {}), known.get("rungs", {}))

    def add(self, name: str, measured: dict[str, Any]) -> None:
        """Replace the figures of a rung."""
        self.rungs[name] = measured

    def write(self, order: Sequence[str]) -> None:
        """Write the rungs in this order, without others, and the runs that they are of."""
        rungs = {name: self.rungs[name] for name in order if name in self.rungs}
        own = {rung["run"] for rung in rungs.values()}
        runs = {name: run for name, run in sorted(self.runs.items()) if name in own}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"runs": runs, "rungs": rungs}, indent=2) + "\n")
