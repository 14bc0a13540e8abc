"""Run rooms of the suite on a later day: a test that passes only for some days is a defect.

Usage: python -m tools.later [--days DAYS] ROOM ...
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from systems.clocks import build_clock

_CLONE: Final = Path(__file__).parents[1]
_CLOCK: Final = _CLONE / ".cache/later"
_DAY_SECONDS: Final = 86_400


def main(argv: Sequence[str] | None = None) -> None:
    """Become the suite, with a clock that is so many days ahead."""
    parser = argparse.ArgumentParser(prog="python -m tools.later", description=__doc__)
    parser.add_argument("--days", type=int, default=400)
    parser.add_argument("rooms", nargs="+", metavar="ROOM")
    asked = parser.parse_args(argv)
    # As users run it: a night has other seeds and more trials.
    environ = {name: text for name, text in os.environ.items() if name != "NIGHTLY"}
    shutil.rmtree(_CLOCK, ignore_errors=True)
    clock = build_clock(_CLOCK, asked.days * _DAY_SECONDS)
    os.chdir(_CLONE)
    suite = [sys.executable, "-m", "tools.suite", *asked.rooms]
    os.execve(suite[0], suite, {**environ, **clock})  # noqa: S606 - signals must reach the suite


if __name__ == "__main__":
    main()
