"""Climb the ladder: measure rungs, write bench/results.json, docs/performance.md and its plots."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.ladder import FORMS, Form, Rung
from bench.page import describe_figure, describe_goal, write_page
from bench.results import Results
from bench.rungs import RUNGS
from bench.spark.world import close_world
from tools.machine import Load, describe_machine

_ROOT = Path(__file__).parents[1]
_LONGEST_SECONDS = 900  # of a rung; one that hangs takes no other with it


def main() -> int:
    """Measure the rungs that were asked for and report all that is known."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--form", choices=FORMS, default="ordinary", help="tiny writes nothing")
    parser.add_argument("rung", nargs="*", help="names of rungs; all of them when left out")
    arguments = parser.parse_args()
    unknown = set(arguments.rung) - {rung.name for rung in RUNGS}
    if unknown:
        parser.error(f"no rung {sorted(unknown)}; there are {[rung.name for rung in RUNGS]}")
    chosen = [rung for rung in RUNGS if not arguments.rung or rung.name in arguments.rung]
    if arguments.form == "tiny":
        with tempfile.TemporaryDirectory() as folder:
            return climb(chosen, arguments.form, Path(folder))
    return climb(chosen, arguments.form, _ROOT)


def climb(rungs: list[Rung], form: str, folder: Path) -> int:
    """Measure rungs one after the other, and write all files below a folder after each.

    Returns:
        1 if a rung failed, which keeps the figure that it had; otherwise 0.
    """
    results = Results.read(folder / "bench/results.json")
    run = datetime.now(UTC).isoformat(timespec="seconds")
    results.runs[run] = {"form": form, **asdict(FORMS[form]), "machine": describe_machine()}
    failed = []
    for rung in rungs:
        try:
            measured = _measure(rung, FORMS[form])
        except Exception:  # the others are measured, and the exit code says so
            traceback.print_exc()
            print(f"{rung.name}: failed", flush=True)
            failed.append(rung.name)
            close_world()
            continue
        print(_line(rung, measured), flush=True)
        results.add(rung.name, measured | {"run": run})
        results.write([each.name for each in RUNGS])
        write_page(results, folder / "docs")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _measure(rung: Rung, form: Form) -> dict[str, Any]:
    load = Load()
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_LONGEST_SECONDS)
    try:
        with redirect_stdout(sys.stderr):  # where jobs write a line for each batch
            result = rung.measure(form)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return {
        "figure": float(f"{result.figure:.4g}"),
        "unit": result.unit,
        "reached": rung.is_reached(result.figure),
        **load.measure(),
        "parts": result.parts,
    }


def _give_up(*_: object) -> None:
    raise TimeoutError(f"the rung is not done after {_LONGEST_SECONDS} seconds")


def _line(rung: Rung, measured: dict[str, Any]) -> str:
    verdict = "" if measured["reached"] else ", not reached"
    return (
        f"{rung.name}: {describe_figure(measured)} ({describe_goal(rung, measured)}{verdict}); "
        f"{measured['seconds']:.0f} s, others used {measured['others_cores']} cores"
    )


if __name__ == "__main__":
    sys.exit(main())
