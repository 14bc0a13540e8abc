"""Run simulations from seeds, until the time is over or one fails: `python -m tests.simulation`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections import Counter
from itertools import count

from tests.simulation.run import run

_SHOWN = 20


def main() -> int:
    """Run, and return 1 if a run has found something wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed [0]")
    parser.add_argument("--runs", type=int, help="so many seeds [as many as the time allows]")
    parser.add_argument("--seconds", type=float, default=30, help="start no run after these [30]")
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # else a seed would not run the same way again
        environ = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(  # noqa: S606
            sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]], environ
        )
    logging.disable()
    began, total, fired = time.perf_counter(), Counter[str](), Counter[str]()
    for seed in count(given.seed):
        seconds = time.perf_counter() - began
        if seconds > given.seconds or total["hours"] == given.runs:
            break
        report = run(seed)
        total += report.counts
        fired += report.fired
        if report.problems:
            print(f"seed {seed}:", *report.problems[:_SHOWN], sep="\n  ")
            print(f"again: python -m tests.simulation --seed {seed} --runs 1")
            return 1
    shown = ", ".join(f"{number:,} {name}" for name, number in total.items())
    print(f"{shown} in {seconds:.0f} s; faults: {fired.total():,}")
    for name, number in sorted(fired.items()):
        print(f"  {number:8,} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
