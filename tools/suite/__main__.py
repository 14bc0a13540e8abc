"""Run the test suite room by room, several rooms at once, and show where the time went."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tools.suite.needs import count_rooms, find_missing
from tools.suite.report import Result, show_results
from tools.suite.rooms import ROOMS, check_rooms
from tools.suite.run import LOGS, Suite, run_again, run_rooms

_CLONE = Path(__file__).parents[2]
_SHOWN_LINES = 400  # of the log of a failed room


def main() -> int:
    """Run the rooms; return 1 when a test failed, 2 when a test is in no room or a tool missing."""
    names = [room.name for room in ROOMS]
    parser = argparse.ArgumentParser(prog="python -m tools.suite", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(names))
    asked = parser.parse_args().rooms
    if unknown := [name for name in asked if name not in names]:
        parser.error(f"found the room {unknown[0]}, expected one of {', '.join(names)}")
    files = [
        path.relative_to(_CLONE)
        for folder in ("tests", "localcloud/tests")
        for path in (_CLONE / folder).rglob("test_*.py")
    ]
    if problems := check_rooms(ROOMS, files):
        print("\n".join(problems), file=sys.stderr)
        return 2
    if not asked and (missing := list(find_missing())):
        print("The tests need what this machine lacks:", *missing, sep="\n  - ", file=sys.stderr)
        return 2
    (_CLONE / LOGS / "faults.jsonl").unlink(missing_ok=True)  # what tests of faults count
    started = time.monotonic()
    rooms = [room for room in ROOMS if not asked or room.name in asked]
    suite = Suite(ROOMS, _CLONE)
    results = run_rooms(rooms, suite, count_rooms(), _tell)
    if os.environ.get("NIGHTLY") != "1":  # its tests would run with other seeds
        results = run_again(results, suite, _tell)
    print(show_results(results, time.monotonic() - started))
    return int(any(result.failed for result in results))


def _tell(result: Result) -> None:
    others = {"skipped": result.skipped, "failed": result.failed}
    told = "".join(f", {count} {what}" for what, count in others.items() if count)
    print(f"{result.room:20} {result.passed} passed{told} in {result.wall:.0f} s", flush=True)
    if result.failed:
        log = _CLONE / LOGS / f"{result.room}.log"
        lines = log.read_text(errors="replace").splitlines()
        print(*lines[-_SHOWN_LINES:], f"The whole log: {LOGS / log.name}", sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
