"""Run rooms of the suite on a later day: a test that passes only for some days is a defect.

Usage: python -m tools.later [--days DAYS] ROOM ...
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from systems.clocks import build_clock

_CLONE: Final = Path(__file__).parents[1]
_DAY_SECONDS: Final = 86_400


def main(argv: Sequence[str] | None = None) -> int:
    """Run the rooms with a clock that is so many days ahead; return the exit code of the suite."""
    parser = argparse.ArgumentParser(prog="python -m tools.later", description=__doc__)
    parser.add_argument("--days", type=int, default=400)
    parser.add_argument("rooms", nargs="+", metavar="ROOM")
    asked = parser.parse_args(argv)
    # As users run it: a night has other seeds and more trials.
    environ = {name: text for name, text in os.environ.items() if name != "NIGHTLY"}
    with TemporaryDirectory() as folder:
        clock = build_clock(Path(folder) / "clock", asked.days * _DAY_SECONDS)
        suite = [sys.executable, "-m", "tools.suite", *asked.rooms]
        return subprocess.run(suite, cwd=_CLONE, env={**environ, **clock}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
