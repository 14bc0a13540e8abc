"""Run simulations from seeds, until the time is over or one fails: `python -m tests.simulation`."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import time
import traceback
from collections import Counter
from itertools import count

from tests.simulation.mutants import sweep
from tests.simulation.run import PROGRAMS, Report, run

_SHOWN = 20
_COLLECTED = 20  # hours, which hold 20 MB each


def main() -> int:
    """Run, and return 1 if a run has found something wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed [0]")
    parser.add_argument("--runs", type=int, help="so many seeds [as many as the time allows]")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS, help="[all]")
    parser.add_argument(
        "--seconds", type=float, default=30, help="start no run after these of CPU time [30]"
    )
    parser.add_argument(
        "--mutants",
        nargs="*",
        metavar="NAME",
        help="plant bugs of tests/mutants, and look for each",
    )
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # else a seed would not run the same way again
        environ = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(  # noqa: S606
            sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]], environ
        )
    logging.disable()
    gc.freeze()
    gc.disable()  # else half of the time is spent on looking for what hours still hold
    if given.mutants is not None:
        for line in sweep(given.mutants, given.seconds, os.cpu_count() or 1):
            print(line, flush=True)
        return 0
    began, total, fired = time.process_time(), Counter[str](), Counter[str]()
    for seed in count(given.seed):
        seconds = time.process_time() - began
        if seconds > given.seconds or total["hours"] == given.runs:
            break
        try:
            report = run(seed, programs=given.programs)
        except Exception as error:  # of a program: whatever it is, the seed shows it again
            traceback.print_exc()
            report = Report(seed, [f"{type(error).__name__}: {error}"], Counter(), Counter(hours=1))
        if (seed - given.seed) % _COLLECTED == _COLLECTED - 1:
            gc.collect()
        total += report.counts
        fired += report.fired
        if report.problems:
            print(
                f"{total['hours']} hours until seed {seed}:", *report.problems[:_SHOWN], sep="\n  "
            )
            words = f"--seed {seed} --runs 1 --programs {' '.join(given.programs)}"
            print(f"again: python -m tests.simulation {words}")
            return 1
    shown = ", ".join(f"{number:,} {name}" for name, number in total.items())
    print(f"{shown} in {seconds:.0f} s of CPU time; faults: {fired.total():,}")
    for name, number in sorted(fired.items()):
        print(f"  {number:8,} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
