"""Output that is safe for the terminal: control characters in the data are escaped."""

from __future__ import annotations

import sys


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
