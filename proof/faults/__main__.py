"""Let faults happen to the systems, and keep their counts: `python -m proof.faults`."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from proof.faults.kinds import FAULTS
from proof.faults.results import Results, describe
from proof.faults.run import QUIET_SECONDS, SYSTEMS, running_stage
from proof.page import write_page
from proof.results import Results as SchemaResults
from systems.place import ROOT
from tools.commit import find_commit


def main() -> None:
    """Run what the words say; a run of all faults in all systems is kept, with its page."""
    words = _parse()
    handler = logging.StreamHandler()
    handler.addFilter(logging.Filter("proof"))
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(message)s", handlers=[handler], force=True
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("it was asked to end"))
    with tempfile.TemporaryDirectory() as temporary:
        _run(words, words.folder or Path(temporary))
    write_page(SchemaResults.read(), ROOT / "docs")


def _run(words: argparse.Namespace, folder: Path) -> None:
    """Print each outcome and keep it, also that a fault did not happen."""
    with running_stage(folder, words.seed, words.quiet_seconds) as stage:
        for name in words.faults:
            systems = [each for each in words.systems if each in FAULTS[name].systems]
            found = stage.run(name, systems)
            for system, outcome in found.items():
                print(f"{name:16}{system:14}{describe(outcome)}  {outcome}", flush=True)
            run = {"day": f"{datetime.now(UTC):%Y-%m-%d}", "commit": find_commit()}
            run |= {"seed": words.seed}
            Results.read().keep(name, run, found).write()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.faults", description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--folder", type=Path, help="a new folder in which files and logs stay")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of faults")
    parser.add_argument("--quiet-seconds", type=float, default=QUIET_SECONDS, metavar="N",
                        help="seconds without anything new that end a trial")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    main()
