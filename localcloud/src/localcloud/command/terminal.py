"""Text for a terminal."""

from __future__ import annotations


def printable(text: str, keep: str = "") -> str:
    """Return the text with control characters escaped, except those of `keep`."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def say(text: str) -> None:
    """Print lines at once, with control characters escaped."""
    print(printable(text, keep="\n\t"), flush=True)
