"""Run one part of the nightly suite, of an hour at most, and keep what ran.

Usage: python -m tools.nightly            Run the part of today's date.
       python -m tools.nightly PART ...   Run these, in this order; `all` is every part.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from systems.trials import LINES
from tools.commit import find_commit
from tools.machine import describe_machine

_CLONE: Final = Path(__file__).parents[1]
_RUNS: Final = _CLONE / "tests/nightly.json"
_MOST_SECONDS: Final = 3_600
_KEPT_RUNS: Final = 3  # of each part
_END_SECONDS: Final = 60

_SUITE, _TRIALS = ("-m", "tools.suite"), ("-m", "tools.fault_table")


@dataclass(frozen=True, slots=True)
class Part:
    """Commands of Python that take an hour at most together; `rooms` are those of the suite."""

    name: str
    rooms: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()

    def list_commands(self) -> list[tuple[str, ...]]:
        """Return the commands in their order."""
        suite = [(*_SUITE, *self.rooms), _TRIALS] if self.rooms else []
        return [*suite, *self.commands]


_DATED: Final = (
    *("unit", "unit-schemas", "unit-sinks", "unit-registry", "unit-structure"),
    *("localcloud-unit", "kafka", "spark"),
)

_MIXED: Final = ("-m", "campaign", "--minutes", "3", "--programs")

# In the order of dates. The other rooms have no tests that do more at night.
PARTS: Final = (
    Part("faults", ("faults",)),
    Part("functions", ("lambdas", "registries")),
    Part("spark", ("spark",)),
    Part("accounts", ("e2e", "browser")),
    Part("units", ("unit", "unit-schemas", "unit-sinks", "oracle")),
    Part("simulation", ("simulation",)),
    Part("mutants", commands=(("-m", "tools.mutants"),)),
    Part("later", commands=(("-m", "tools.later", *_DATED),)),
    Part(
        "mixed",
        commands=(
            *((*_MIXED, program) for program in ("staging", "cdc", "replay")),
            (*_MIXED, "replay", "--from", "HEAD~100"),
            _TRIALS,
        ),
    ),
    Part("campaign", commands=(("-m", "campaign", "--soak", "--minutes", "30"), _TRIALS)),
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a part; `outcome` is `passed`, `failed`, or `over an hour`."""

    part: str
    began: str
    commit: str
    seconds: int
    outcome: str
    machine: str


def main() -> int:
    """Run parts; return 1 if one did not pass."""
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="python -m tools.nightly", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join((*names, "all")))
    asked = parser.parse_args().parts or [choose_part(datetime.now(UTC).date()).name]
    if unknown := [name for name in asked if name not in (*names, "all")]:
        parser.error(f"found the part {unknown[0]}, expected one of {', '.join((*names, 'all'))}")
    chosen = PARTS if "all" in asked else [part for part in PARTS if part.name in asked]
    runs = []
    for part in chosen:
        LINES.unlink(missing_ok=True)  # the trials of other days
        runs.append(run_part(part))
        _RUNS.write_text(json.dumps(keep([*read_runs(), asdict(runs[-1])]), indent=2) + "\n")
    print(*(f"{run.part}: {run.outcome} in {run.seconds} s" for run in runs), sep="\n")
    return int(any(run.outcome != "passed" for run in runs))


def choose_part(day: date) -> Part:
    """Return the part of a date: each has its turn."""
    return PARTS[day.toordinal() % len(PARTS)]


def read_runs() -> list[dict[str, str | int]]:
    """Return the kept runs, the oldest first."""
    found: list[dict[str, str | int]] = json.loads(_RUNS.read_text()) if _RUNS.exists() else []
    return found


def keep(runs: Sequence[dict[str, str | int]]) -> list[dict[str, str | int]]:
    """Return the last runs of each part, the oldest first."""
    kept: list[dict[str, str | int]] = []
    for run in reversed(runs):
        if sum(other["part"] == run["part"] for other in kept) < _KEPT_RUNS:
            kept.insert(0, run)
    return kept


def run_part(part: Part, most_seconds: float = _MOST_SECONDS) -> Run:
    """Run the commands of a part, all of them even if one fails, until its time is over."""
    began, commit, started = datetime.now(UTC), find_commit(), time.monotonic()
    outcome = "passed"
    for command in part.list_commands():
        code = _call(command, most_seconds - (time.monotonic() - started))
        if code is None:
            outcome = "over an hour" if outcome == "passed" else outcome
            if _TRIALS in part.list_commands():
                _call(_TRIALS, _END_SECONDS)  # what was counted until then
            break
        if code:
            outcome = "failed"
    seconds = round(time.monotonic() - started)
    return Run(part.name, f"{began:%Y-%m-%d %H:%M}", commit, seconds, outcome, _name_machine())


def _name_machine() -> str:
    machine = describe_machine()
    return f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"


def _call(command: Iterable[str], seconds: float) -> int | None:
    """Return the exit code of a command, or None if it was ended since the time is over."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=_CLONE, env={**os.environ, "NIGHTLY": "1"}
    )
    try:
        return process.wait(max(seconds, 0))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # the suite ends its brokers and drivers
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return None


def nightly_table() -> str:
    """Return the table of the kept runs, for docs/faults.md."""
    lines = [
        "| part | began (UTC) | commit | machine | minutes | outcome |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for part in PARTS:
        runs = [run for run in read_runs() if run["part"] == part.name]
        for run in runs:
            when = f"{run['began']} | `{run['commit']}` | {run['machine']}"
            minutes = -(-int(run["seconds"]) // 60)
            lines.append(f"| `{part.name}` | {when} | {minutes} | {run['outcome']} |")
        if not runs:
            lines.append(f"| `{part.name}` | not run yet |  |  |  |  |")
    return "\n".join((*lines, ""))


if __name__ == "__main__":
    sys.exit(main())
