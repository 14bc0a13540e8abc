"""Output that is safe for the terminal: control characters in the data are escaped."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print one line; line breaks and other control characters in it are escaped."""
    print(_printable(line))


def complain(error: Exception) -> None:
    """Print an error to stderr; control characters other than line breaks are escaped."""
    for number, line in enumerate(str(error).split("\n")):
        print(f"penstock: {_printable(line)}" if number == 0 else _printable(line), file=sys.stderr)


def _printable(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
