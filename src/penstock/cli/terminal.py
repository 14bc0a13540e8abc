"""Output that is safe for the terminal: control characters in the data are escaped."""

from __future__ import annotations

import sys
import time
from typing import Self

_DRAW_SECONDS = 0.1
_BAR_WIDTH = 20
_ERASE_LINE = "\r\x1b[K"


def say(line: str) -> None:
    """Print one line; line breaks and other control characters in it are escaped."""
    print(printable(line))


def complain(error: Exception) -> None:
    """Print an error to stderr; control characters other than line breaks are escaped."""
    for number, line in enumerate(str(error).split("\n")):
        print(f"penstock: {printable(line)}" if number == 0 else printable(line), file=sys.stderr)


def printable(text: str, keep: str = "") -> str:
    """Return the text with control characters escaped, except those of `keep`."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


class Progress:
    """A progress bar on stderr, if that is a terminal and stdout does not scroll it away."""

    def __init__(self, unit: str, total: int | None = None, *, prints_lines: bool = True) -> None:
        self._unit = unit
        self._total = total
        self._is_shown = sys.stderr.isatty() and not (prints_lines and sys.stdout.isatty())
        self._began = time.monotonic()
        self._due = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, done: int, total: int | None = None) -> None:
        """Draw how much is done, at most ten times a second."""
        now = time.monotonic()
        if self._is_shown and now >= self._due:
            self._due = now + _DRAW_SECONDS
            text = self._text(done, total or self._total, now - self._began)
            print(f"{_ERASE_LINE}{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the bar, so that a line can be printed."""
        if self._is_shown:
            print(_ERASE_LINE, end="", file=sys.stderr, flush=True)
            self._due = 0.0

    def _text(self, done: int, total: int | None, seconds: float) -> str:
        text = f"{done:,}" if total is None else _bar(done, total)
        return f"{text} {self._unit}, {done / seconds if seconds else 0:,.0f}/s"


def _bar(done: int, total: int) -> str:
    filled = _BAR_WIDTH * done // total
    return f"[{'#' * filled:<{_BAR_WIDTH}}] {100 * done // total} % of {total:,}"
