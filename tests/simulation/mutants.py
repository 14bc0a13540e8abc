"""Plant the bugs of tests/mutants one at a time, and simulate hours until one ends wrong."""

from __future__ import annotations

import ast
import cProfile
import os
import pstats
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.simulation.run import PROGRAMS, run
from tools.mutants.mutants import Mutant, load_mutants
from tools.mutants.run import copy_clone, environ_of_copy

CLONE = Path(__file__).parents[2]
# Bugs of what rows, letters and answers are; those of other groups cost time or memory, or tell
# what nobody may read.
GROUPS = ("changes", "duplicates", "loss", "order", "values")
# Bugs in functions that an hour runs and that it cannot show, and why.
NOT_SHOWN = {
    "part-of-another-driver": "the table refuses the second part, with the check and without it",
    "record-of-two-stages": "a replay into DynamoDB writes the record twice as the same row",
    "work-without-a-lease": "the invocation does nothing, and the next one does its work",
    "append-and-publish": "the table refuses the part of a batch, without this check too",
    "lost-answer-to-a-claim": "the driver ends without a need, and the next one goes on",
    "rows-of-one-key": "no records of one batch have the same row in a table that is appended to",
    "clocks-of-hosts": "retries stop half a minute before their time-out, or are ended at it",
    "first-of-two-headers": "no record has headers",
    "times-before-1970": "no clock is before 1970",
    "keys-that-join-to-one": "no key has a slash or a percent sign",
    "forgotten-device": "a sender has one device, which it does not forget",
    "backward-and-forward": "the registry refuses what its rule, as a program reads it, lets pass",
    "last-version-only": "Glue's rule is BACKWARD, which looks at one version",
    "another-definition-of-an-id": "the registry does not change a definition",
    "answer-to-another-question": "the registry does not confuse questions",
    "digits-of-a-number": "no event has a number of more than 38 digits",
    "double-of-many-digits": "no row that is joined has a double",
}
_SAMPLE = 4  # hours that show which functions run
_HOURS = re.compile(r"^(\d+) hours?\b", re.MULTILINE)
# Of code that cannot run, which says nothing of its promise.
_NO_PROOF = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")


def sweep(names: Sequence[str], seconds: float, processes: int) -> Iterator[str]:
    """Yield a line for each mutant whose code runs in a simulated hour, as it is known."""
    known, asked = load_mutants(CLONE), set(names)
    mutants = [
        each
        for each in known
        if asked & {each.group, each.name}
        or (not asked and each.group in GROUPS and each.name not in NOT_SHOWN)
    ]
    called = {name: _find_functions(name) for name in PROGRAMS}
    chosen = {
        mutant: programs
        for mutant in mutants
        if (programs := [name for name in PROGRAMS if _is_run(mutant, called[name])])
    }
    yield f"{len(chosen)} of {len(mutants)} mutants are in functions that simulated hours run"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            copy_clone(CLONE, copy := Path(folder) / str(number))
            free.put(copy)

        def search(mutant: Mutant) -> str:
            copy = free.get()
            path = copy / mutant.file
            original = path.read_text()
            path.write_text(mutant.apply(copy))
            try:
                found = _simulate(copy, seconds, chosen[mutant])
                return f"{mutant.group}/{mutant.name} ({', '.join(chosen[mutant])}): {found}"
            finally:
                path.write_text(original)
                free.put(copy)

        yield from pool.map(search, chosen)


def _simulate(copy: Path, seconds: float, programs: Sequence[str]) -> str:
    words = ["--seconds", str(seconds), "--programs", *programs]
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", *words],
        cwd=copy,
        env={**os.environ, **environ_of_copy(copy), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    hours = found[1] if (found := _HOURS.search(done.stdout)) else "no"
    lines = (done.stdout + done.stderr).strip().splitlines() or ["no word"]
    if done.returncode == 0:
        return f"NOT FOUND in {hours} hours"
    if not found or any(name in done.stdout for name in _NO_PROOF):
        return f"DOES NOT RUN: {lines[-1]}"
    return f"found in hour {hours}: {lines[1].strip():.100}"


def _find_functions(programs: str) -> set[tuple[str, int]]:
    """Return the files and first lines of the functions that some programs run in a few hours."""
    profile = cProfile.Profile()
    for seed in range(_SAMPLE):
        profile.runcall(run, seed, programs=[programs])
    called: Iterable[tuple[str, int, str]] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return {(file, line) for file, line, _ in called}


def _is_run(mutant: Mutant, called: set[tuple[str, int]]) -> bool:
    """Return whether a mutant is in a function that was called, or outside of any beside one."""
    path = CLONE / mutant.file
    own = {line for file, line in called if file == str(path)}
    if not own or path.suffix != ".py":
        return False
    text = path.read_text()
    first = text[: text.index(mutant.before.lstrip("\n"))].count("\n") + 1
    last = first + mutant.before.strip("\n").count("\n")
    lines = {
        line
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.FunctionDef)
        and each.lineno <= last
        and first <= (each.end_lineno or 0)
        for line in (each.lineno, *(one.lineno for one in each.decorator_list))
    }
    return not lines or bool(lines & own)
