"""Climb the ladder: measure each rung, write bench/results.json and docs/performance.md, .svg."""

from __future__ import annotations

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.ladder import Rung
from bench.plot import draw_speeds
from bench.rungs import RUNGS

_ROOT = Path(__file__).parents[1]
_RESULTS = _ROOT / "bench/results.json"
_PAGE = _ROOT / "docs/performance.md"
_NOTES = _ROOT / "bench/notes.md"
_PLOT = _ROOT / "docs/performance.svg"
_SHORT, _FULL = 2_000, 50_000


def main() -> None:
    """Measure the rungs that were asked for and report all that is known."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the long form: 25 times the calls")
    parser.add_argument("rung", nargs="*", help="names of rungs; all of them when left out")
    arguments = parser.parse_args()
    unknown = set(arguments.rung) - {rung.name for rung in RUNGS}
    if unknown:
        parser.error(f"no rung {sorted(unknown)}; there are {[rung.name for rung in RUNGS]}")
    known = json.loads(_RESULTS.read_text())["rungs"] if _RESULTS.exists() else {}
    for rung in RUNGS:
        if not arguments.rung or rung.name in arguments.rung:
            known[rung.name] = _measured(rung, _FULL if arguments.full else _SHORT)
            print(_row(rung, known[rung.name]), flush=True)
            _publish(known)  # a rung that fails takes none with it


def _publish(known: dict[str, Any]) -> None:
    _RESULTS.write_text(json.dumps({"machine": _machine(), "rungs": known}, indent=2) + "\n")
    _PAGE.write_text(_page(known))
    _PLOT.write_text(draw_speeds(known))


def _measured(rung: Rung, count: int) -> dict[str, Any]:
    result = rung.measure(count)
    return {
        "figure": round(result.figure, 2),
        "unit": result.unit,
        "reached": rung.is_reached(result.figure),
        "parts": result.parts,
    }


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _row(rung: Rung, measured: dict[str, Any]) -> str:
    verdict = "reached" if measured["reached"] else "**not reached**"
    figure = f"{measured['figure']} {measured['unit']}"
    return f"| {rung.name} | {rung.what} | {figure} | {rung.goal} | {verdict} |"


def _page(known: dict[str, Any]) -> str:
    machine = _machine()
    head = f"""# Performance

`make bench` measures this table and writes this page; `make bench FULL=1` takes longer.
Nothing in the ordinary tests is timed.
Ratios are between two ways measured in turns in one run: machines are shared and noisy.

Last run on {machine["cores"]} cores ({machine["architecture"]}), Python {machine["python"]}.

| rung | what | figure | goal | |
| --- | --- | --- | --- | --- |
"""
    rows = "".join(f"{_row(rung, known[rung.name])}\n" for rung in RUNGS if rung.name in known)
    return f"{head}{rows}\n{_NOTES.read_text()}"


if __name__ == "__main__":
    main()
