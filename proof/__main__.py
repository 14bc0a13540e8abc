"""Send the changes to the systems, and write the page of outcomes: `python -m proof`."""

from __future__ import annotations

import argparse
import logging
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from proof.changes import CHANGES
from proof.page import write_page
from proof.results import Cell, Results, describe_run
from proof.run import QUIET_SECONDS, SYSTEMS, Outcome, run_changes
from systems.place import ROOT

_NAMES = [each.name for each in CHANGES]


def main() -> None:
    """Run what the words say; a run of all changes in all systems is kept, with its page."""
    words = _parse()
    if words.page:
        write_page(Results.read(), ROOT / "docs")
        return
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(message)s")
    logging.getLogger("proof").setLevel(logging.INFO)
    logging.getLogger("kafka").addFilter(lambda record: False)
    changes = tuple(each for each in CHANGES if each.name in words.changes)
    began = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_changes(
            changes, words.systems, words.folder or Path(folder), words.quiet_seconds
        )
    _print(outcome)
    if set(words.systems) == set(SYSTEMS) and len(changes) == len(CHANGES):
        results = Results(describe_run(began), _cells(outcome))
        results.write()
        write_page(results, ROOT / "docs")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--changes", nargs="+", choices=_NAMES, default=_NAMES, metavar="NAME")
    parser.add_argument("--folder", type=Path, help="a new folder in which files and logs stay")
    parser.add_argument("--quiet-seconds", type=float, default=QUIET_SECONDS, metavar="N",
                        help="seconds without anything new that end a round")  # fmt: skip
    parser.add_argument("--page", action="store_true", help="only write the page again")
    return parser.parse_args()


def _print(outcome: Sequence[Outcome]) -> None:
    for each in outcome:
        why = "; ".join(filter(None, (each.judgement.reason, each.trouble)))
        print(f"{each.system:18}{each.change:22}{each.judgement.verdict:16}{why}")


def _cells(outcome: Sequence[Outcome]) -> dict[str, dict[str, Cell]]:
    cells: dict[str, dict[str, Cell]] = {}
    for each in outcome:
        cell = Cell(each.judgement.verdict, each.judgement.reason, each.trouble)
        cells.setdefault(each.system, {})[each.change] = cell
    return cells


if __name__ == "__main__":
    main()
