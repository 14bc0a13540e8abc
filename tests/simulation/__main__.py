"""Run simulations from seeds, until the time is over or one fails: `python -m tests.simulation`."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count, islice
from multiprocessing import get_context

from tests.simulation.mutants import sweep
from tests.simulation.run import PROGRAMS, Report, run

_SHOWN = 20
_COLLECTED = 20  # hours, which hold 20 MB each
_HOURS = count(1)  # of this process


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
        "--processes", type=int, default=os.cpu_count(), help="hours at once [one for each core]"
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
        for line in sweep(given.mutants, given.seconds, given.processes):
            print(line, flush=True)
        return 0
    total, fired, seconds = Counter[str](), Counter[str](), 0.0
    for report, said, spent in _run_all(given):
        total += report.counts
        fired += report.fired
        seconds += spent
        if report.problems:
            print(
                f"{said}{total['hours']} hours until seed {report.seed}:",
                *report.problems[:_SHOWN],
                sep="\n  ",
            )
            words = f"--seed {report.seed} --runs 1 --programs {' '.join(given.programs)}"
            print(f"again: python -m tests.simulation {words}")
            return 1
    shown = ", ".join(f"{number:,} {name}" for name, number in total.items())
    print(f"{shown} in {seconds:.0f} s of CPU time; faults: {fired.total():,}")
    for name, number in sorted(fired.items()):
        print(f"  {number:8,} {name}")
    return 0


def _run_all(given: argparse.Namespace) -> Iterator[tuple[Report, str, float]]:
    """Run the hours in some processes, and yield them in order: an hour, its error, its seconds."""
    seeds = count(given.seed) if given.runs is None else range(given.seed, given.seed + given.runs)
    left, begun, spent = iter(seeds), deque[Future[tuple[Report, str, float]]](), 0.0
    with ProcessPoolExecutor(given.processes, get_context("fork")) as pool:

        def begin(most: int) -> None:
            for seed in islice(left, most if spent < given.seconds else 0):
                begun.append(pool.submit(_run_one, seed, given.programs))

        begin(2 * given.processes)
        while begun:
            ended = begun.popleft().result()
            spent += ended[-1]
            yield ended
            begin(1)


def _run_one(seed: int, programs: Sequence[str]) -> tuple[Report, str, float]:
    """Run an hour; return its report, the error that ended it, and its seconds of CPU time."""
    began, said = time.process_time(), ""
    try:
        report = run(seed, programs=programs)
    except Exception as error:  # of a program: whatever it is, the seed shows it again
        said = traceback.format_exc()
        report = Report(seed, [f"{type(error).__name__}: {error}"], Counter(), Counter(hours=1))
    if next(_HOURS) % _COLLECTED == 0:
        gc.collect()
    return report, said, time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
