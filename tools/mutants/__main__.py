"""Plant the bugs of tests/mutants in copies of this clone, and see that the test of each fails."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Final

from tools.mutants.mutants import find_problem, load_mutants
from tools.mutants.run import FAILED, Verdict, plant_all

_CLONE: Final = Path(__file__).parents[2]
_TEST_SECONDS: Final = 300


def main() -> int:
    """Plant mutants; return 1 when one survives, 2 when one cannot be planted."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="groups and mutants [all]")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    given = parser.parse_args()
    mutants, names = load_mutants(_CLONE), set(given.names)
    if unknown := names - {each for mutant in mutants for each in (mutant.group, mutant.name)}:
        parser.error(f"found {min(unknown)}, expected a group or a mutant of tests/mutants")
    chosen = [each for each in mutants if not names or names & {each.group, each.name}]
    if problems := {each.name: found for each in chosen if (found := find_problem(each, _CLONE))}:
        print(*(f"{name}: {problem}" for name, problem in problems.items()), sep="\n")
        return 2
    began = time.monotonic()
    red, verdicts = plant_all(chosen, _CLONE, given.processes, _TEST_SECONDS, _tell)
    for test, outcome in red.items():
        print(f"{test} does not pass without a bug: {outcome}")
    survivors = [each for each in verdicts if each.outcome != FAILED]
    for mutant, outcome, _ in survivors:
        print(f"\nSURVIVED {mutant.group}/{mutant.name}: {mutant.breaks}")
        print(f"  {mutant.file}, {mutant.test}: {outcome}")
    killed, seconds = len(verdicts) - len(survivors), time.monotonic() - began
    print(f"\n{killed} of {len(chosen)} mutants made their test fail, in {seconds:.0f} s")
    return int(killed < len(chosen))


def _tell(verdict: Verdict) -> None:
    mutant = verdict.mutant
    print(f"{verdict.seconds:6.1f} s  {mutant.group}/{mutant.name}: {verdict.outcome}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
