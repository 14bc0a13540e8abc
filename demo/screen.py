"""The demo's output: steps with their times, tables, and the details of a failed step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from penstock.cli import printable

_WIDTH = 58
_INDENT = "      "
_CELL = 44


class StepFailedError(Exception):
    """A step of the demo failed: where (account and part), why, and the log lines that matter."""

    def __init__(self, where: str, why: str, lines: Sequence[str] = ()) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why
        self.lines = tuple(lines)
        for line in lines:  # for a test, which does not catch it
            self.add_note(line)


class Steps:
    """Numbers the steps and prints how long each took."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._number = 0

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Print the title, then the seconds that it took.

        Raises:
            StepFailedError: a call to AWS or to the system failed.
        """
        self._number += 1
        begun = time.monotonic()
        print(f"{self._number:>3}  {title} ".ljust(_WIDTH, "."), end=" ", flush=True)
        try:
            yield
        except (AssertionError, BotoCoreError, ClientError, OSError) as error:
            print("failed", flush=True)
            raise StepFailedError(title, f"{error}") from error
        except BaseException:
            print("failed", flush=True)
            raise
        print(f"{time.monotonic() - begun:5.1f} s", flush=True)

    def finish(self) -> None:
        """Print how long everything took."""
        print(f"\nDone in {time.monotonic() - self._begun:.0f} s.")


@contextmanager
def story_steps() -> Iterator[Steps]:
    """Number the steps of a story and print their time; exit with 1 when a step failed."""
    steps = Steps()
    try:
        yield steps
    except StepFailedError as error:
        print_failure(error)
        sys.exit(1)
    steps.finish()


def print_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Print rows under the names of their columns, each column as wide as its content."""
    texts = [[_text(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    for cells in [list(columns), ["-" * width for width in widths], *texts]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        print(f"{_INDENT}{line}".rstrip())


def print_failure(error: StepFailedError) -> None:
    """Print what failed, and the lines that matter."""
    print(f"\n{printable(str(error))}")
    for line in error.lines:
        print(f"{_INDENT}{printable(line)}")


def _text(value: object) -> str:
    text = "" if value is None else printable(str(value))
    return text if len(text) <= _CELL else f"{text[: _CELL - 3]}..."
