"""Plant the bugs of tests/mutants, each in a process, and simulate hours until one ends wrong."""

from __future__ import annotations

import ast
import cProfile
import gc
import os
import pstats
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

from tests.simulation.run import PROGRAMS, run
from tools.mutants.mutants import Mutant, load_mutants

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
    "forgotten-device": "a sender has one device at a time, which it does not forget",
    "done-letter-ends-the-waiting": "a letter is open before its driver waits, in this version",
    "rejected-dead-letter": "no table refuses a dead letter, as mappings would stop for ever",
    "backward-and-forward": "the registry refuses what its rule, as a program reads it, lets pass",
    "last-version-only": "Glue's rule is BACKWARD, which looks at one version",
    "another-definition-of-an-id": "the registry does not change a definition",
    "answer-to-another-question": "the registry does not confuse questions",
    "digits-of-a-number": "no event has a number of more than 38 digits",
    "double-of-many-digits": "no row that is joined has a double",
    "union-that-comes-later": "no version of an hour has a union of two types besides null",
}
_SAMPLE = 4  # hours that show which functions run
_COLLECTED = 20  # hours, which hold 20 MB each
_LONGEST_HOUR = 60  # seconds of CPU time, after which it has no end
_OURS = ("localcloud", "penstock", "tests")
_FORKING = Lock()
# Of code that cannot run, which says nothing of its promise.
_NO_PROOF = (NameError, ImportError, SyntaxError)


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

    def search(mutant: Mutant) -> str:
        found = _fork(lambda: _simulate(mutant, seconds, chosen[mutant]))
        return f"{mutant.group}/{mutant.name} ({', '.join(chosen[mutant])}): {found}"

    with ThreadPoolExecutor(processes) as pool:
        yield from pool.map(search, chosen)


def _fork(call: Callable[[], str]) -> str:
    """Return the result of a call in a process of its own, which has all that is imported."""
    with _FORKING:  # or another child would hold the pipe open
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            try:
                os.write(write, call().encode())
            finally:
                os._exit(0)
        os.close(write)
    with os.fdopen(read) as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result or "DOES NOT END"


def _simulate(mutant: Mutant, seconds: float, programs: Sequence[str]) -> str:
    """Plant a bug in this process, and simulate hours until one ends wrong or the time is over."""
    most = int(seconds) + _LONGEST_HOUR
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        simulate = _plant(mutant).run
    except Exception as error:
        return f"DOES NOT RUN: {error!r}"
    began = time.process_time()
    for seed in count():
        if time.process_time() - began > seconds:
            return f"NOT FOUND in {seed} hours"
        try:
            problems = simulate(seed, programs=programs).problems
        except _NO_PROOF as error:
            return f"DOES NOT RUN: {error!r}"
        except Exception as error:  # of a program, which ends by it
            problems = [repr(error)]
        if problems:
            return f"found in hour {seed + 1}: {problems[0]:.100}"
        if seed % _COLLECTED == _COLLECTED - 1:
            gc.collect()
    raise AssertionError("seeds have no end")


def _plant(mutant: Mutant) -> Any:
    """Import the simulation again, with a bug in one module; return the module that runs it."""
    path, text = str(CLONE / mutant.file), mutant.apply(CLONE)
    compile_module = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> Any:
        planted = loader.path == path
        return compile(text, path, "exec") if planted else compile_module(loader, name)

    for name in list(sys.modules):
        if name.partition(".")[0] in _OURS:
            del sys.modules[name]
    with patch.object(SourceFileLoader, "get_code", get_code):
        return import_module("tests.simulation.run")


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
