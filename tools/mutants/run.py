"""Plant mutants in copies of a clone, one at a time in each, and run their tests there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple
from xml.etree import ElementTree

from localcloud.folders import CACHE
from tools.mutants.mutants import Mutant

PASSED: Final = "passed"
FAILED: Final = "failed"

# Large, and no mutant's: sources beside jars may be, and `.cache/tests` has what tests count.
_LINKED: Final = (
    ".venv",
    ".cache/bench",
    ".cache/revisions",
    "build",
    "jars/*/lib",
    "localcloud/.cache",
)
_LEFT_OUT: Final = shutil.ignore_patterns(
    "__pycache__", ".cache", ".venv", ".terraform*", "*.tfstate*"
)
_START_SECONDS: Final = 60  # of pytest, on a machine with much else to do
_UNSET: Final = ("NIGHTLY", "SEED")  # a bug needs few trials
# Failures of a mutant that cannot run, and of one that hangs: no test has looked at its promise.
_NO_PROOF: Final = ("NameError", "ImportError", "ModuleNotFoundError", "Failed: Timeout")


class Verdict(NamedTuple):
    """The result for one mutant: `failed`, as its test must, or why the mutant survived."""

    mutant: Mutant
    outcome: str
    seconds: float


def copy_clone(clone: Path, to: Path) -> None:
    """Copy what tests need; what is large is linked."""
    to.mkdir()
    linked = {path for pattern in _LINKED for path in clone.glob(pattern)}

    def leave_out(folder: str, names: list[str]) -> set[str]:
        large = {name for name in names if Path(folder, name) in linked}
        return _LEFT_OUT(folder, names) | large

    for entry in clone.iterdir():
        if entry.is_dir() and entry not in linked and not entry.name.startswith("."):
            shutil.copytree(entry, to / entry.name, ignore=leave_out)
        elif entry.is_file():
            shutil.copy2(entry, to)
    for path in linked:
        place = to / path.relative_to(clone)
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(path)


def environ_of_copy(copy: Path) -> dict[str, str]:
    """Return the variables with which a program runs the code of a copy."""
    # Bytes that Python compiled in the same second would be taken for those of the new text.
    path = f"{copy / 'src'}:{copy / 'localcloud/src'}:{copy}"
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "LOCALCLOUD_CACHE": str(CACHE)}


def run_tests(copy: Path, words: Sequence[str], seconds: int) -> dict[str, str]:
    """Run tests of a copy, each for so many seconds at most, and return the outcome of each."""
    report = copy / "report.xml"
    report.unlink(missing_ok=True)
    environ = {name: value for name, value in os.environ.items() if name not in _UNSET}
    environ |= environ_of_copy(copy)
    given = ["-q", "-p", "no:cacheprovider", f"--timeout={seconds}", f"--junitxml={report}"]
    with (copy / "report.log").open("wb") as log, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, "-m", "pytest", *given, *words],
            cwd=copy,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_START_SECONDS + seconds * len(words),
        )
    if not report.exists():
        return {}
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest wrote it
    return {f"{case.get('classname')}::{case.get('name')}": _judge(case) for case in cases}


def _judge(case: ElementTree.Element) -> str:
    for kind in ("error", "skipped", "failure"):
        if (found := case.find(kind)) is not None:
            message = found.get("message", "").partition("\n")[0]
            is_proof = kind == "failure" and not message.startswith(_NO_PROOF)
            return FAILED if is_proof else f"{kind}: {message:.200}"
    return PASSED


def plant(mutant: Mutant, copy: Path, seconds: int) -> Verdict:
    """Run the test of a mutant in a copy with its bug, and take the bug out again."""
    began, path = time.monotonic(), copy / mutant.file
    original = path.read_text()
    path.write_text(mutant.apply(copy))
    try:
        outcomes = list(run_tests(copy, ["-x", mutant.test], seconds).values())
    finally:
        path.write_text(original)
    others = [outcome for outcome in outcomes if outcome != PASSED]
    outcome = FAILED if FAILED in others else next(iter(others or outcomes), "did not run")
    return Verdict(mutant, outcome, time.monotonic() - began)


def plant_all(
    mutants: Sequence[Mutant],
    clone: Path,
    processes: int,
    seconds: int,
    tell: Callable[[Verdict], None],
) -> tuple[dict[str, str], list[Verdict]]:
    """Plant mutants in copies of a clone; `tell` gets each verdict as it arrives.

    Returns:
        The tests that do not pass without a bug, and the verdicts. If there are any such tests, no
        mutant is planted.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        copies = [Path(folder) / str(number) for number in range(processes)]
        for copy in copies:
            copy_clone(clone, copy)
        found = run_tests(copies[0], sorted({each.test for each in mutants}), seconds)
        red = {test: outcome for test, outcome in found.items() if outcome != PASSED}
        if red or not found:
            return red or {"all": "did not run"}, []
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def plant_one(mutant: Mutant) -> Verdict:
            copy = free.get()
            try:
                verdict = plant(mutant, copy, seconds)
            finally:
                free.put(copy)
            tell(verdict)
            return verdict

        try:
            return {}, list(pool.map(plant_one, mutants))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # Ctrl-C has ended the tests that ran
            raise
