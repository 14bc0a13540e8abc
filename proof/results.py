"""The file of results: the verdict on each change in each system, and the run that they are of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from penstock import __version__
from proof.oracle import Verdict
from systems.jars import FLINK_POM, SINK_POM
from tools.commit import find_commit
from tools.machine import describe_machine

FILE: Final = Path(__file__).with_name("results.json")
_DEPENDENCY: Final = re.compile(
    r"<artifactId>([\w.-]+)</artifactId>\s*<version>([\w.-]+)</version>\s*</dependency>"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of a change in a system."""

    verdict: Verdict
    reason: str
    trouble: str


@dataclass(frozen=True, slots=True)
class Results:
    """The cells by system and change, and what a reader must know of the run."""

    run: Mapping[str, Any]
    cells: Mapping[str, Mapping[str, Cell]]

    @classmethod
    def read(cls, path: Path = FILE) -> Self:
        """Read a file."""
        known = json.loads(path.read_text())
        cells = {
            system: {
                change: Cell(Verdict(cell["verdict"]), cell["reason"], cell["trouble"])
                for change, cell in found.items()
            }
            for system, found in known["cells"].items()
        }
        return cls(known["run"], cells)

    def write(self, path: Path = FILE) -> None:
        """Write the file."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")


def describe_run(began: datetime) -> dict[str, Any]:
    """Return when a run was, of which commit, on which machine, and of which versions."""
    poms = " ".join(path.read_text() for path in (SINK_POM, FLINK_POM))
    return {
        "began": began.isoformat(timespec="seconds"),
        "minutes": round((datetime.now(UTC) - began).total_seconds() / 60),
        "commit": find_commit(),
        "machine": describe_machine(),
        "versions": {"penstock": __version__, **dict(_DEPENDENCY.findall(poms))},
    }
