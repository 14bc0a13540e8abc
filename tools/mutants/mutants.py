"""The mutants of `tests/mutants`: a file is a group, and a table in it is a mutant.

| key               | holds                                                                     |
| ----------------- | ------------------------------------------------------------------------- |
| `breaks`          | the promise that the bug breaks                                           |
| `file`            | the file that is changed                                                  |
| `before`, `after` | a text that the file has once, and the text that replaces it              |
| `test`            | the test that must fail: path and name, with parameters if one is enough  |

They are written by hand. mutmut and cosmic-ray choose operators, not promises: thousands of mutants
that any test catches, and none that swaps two writes, drops a check of a lease or changes
Terraform. A patch for `git apply` would break when a neighbouring line changes.
"""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug of a group."""

    group: str
    name: str
    breaks: str
    file: str
    before: str
    after: str
    test: str

    def apply(self, clone: Path) -> str:
        """Return the text of the file with the bug.

        Raises:
            ValueError: there is no such file, or it does not have the text exactly once.
        """
        if not (path := clone / self.file).is_file():
            raise ValueError(f"found no file {self.file}, expected the one that is changed")
        text = path.read_text()
        if (found := text.count(self.before)) != 1:
            raise ValueError(
                f"{self.file} has the text {self.before!r} {found} times, expected once: the code "
                "has changed, so write the same bug for the new code"
            )
        return text.replace(self.before, self.after)


def load_mutants(clone: Path) -> list[Mutant]:
    """Return the mutants of all groups."""
    return [
        Mutant(path.stem, name, **values)
        for path in sorted((clone / "tests/mutants").glob("*.toml"))
        for name, values in tomllib.loads(path.read_text()).items()
    ]


def find_problem(mutant: Mutant, clone: Path) -> str:
    """Return why a mutant cannot be planted or tested; empty if it can."""
    try:
        text = mutant.apply(clone)
        if mutant.file.endswith(".py"):
            ast.parse(text)
    except (ValueError, SyntaxError) as error:
        return str(error)
    path, _, test = mutant.test.partition("::")
    source = (clone / path).read_text() if (clone / path).is_file() else ""
    is_there = f"\ndef {test.partition('[')[0]}(" in source
    return "" if is_there else f"found no test {mutant.test}, expected the one that fails"
