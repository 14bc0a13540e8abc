"""How the errors of this package show values and places, and the error that collects its path."""

from __future__ import annotations

import reprlib
import struct
from typing import Final, NoReturn

from penstock.errors import PayloadError, SchemaConflictError, TruncatedPayloadError

_SHOWN_BITS: Final = 128


def number_text(number: int) -> str:
    """Write a whole number for a message; Python does not write more than 4,300 digits."""
    bits = number.bit_length()
    return str(number) if bits <= _SHOWN_BITS else f"a whole number of {bits:,} bits"


class _Shortener(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        return number_text(x)


_shortener = _Shortener()
_shortener.maxstring = _shortener.maxother = 60


def show(value: object) -> str:
    """Return a short text of any value from outside, for a message."""
    return _shortener.repr(value)


def place(path: str) -> str:
    """Return how a message names a place in a schema; a long path is shortened."""
    short = path if len(path) <= 200 else f"{path[:100]}...{path[-100:]}"
    return short or "the schema"


class LocatedError(Exception):
    """An error in one value; every enclosing type adds its step to the path.

    `leave` turns it into the public error once the path is complete.
    """

    def __init__(self, error: type[PayloadError | SchemaConflictError], message: str) -> None:
        self.error = error
        self.message = message
        self.steps: list[str] = []

    def leave(self) -> NoReturn:
        """Raise the public error, with the path in its message."""
        path = "".join(reversed(self.steps)).removeprefix(".")
        raise self.error(f"{path}: {self.message}" if path else self.message, path=path) from None


# Reading past the end raises one of the last two. Checking each read beforehand would take a third
# more time.
READ_ERRORS: Final = (LocatedError, IndexError, struct.error)


def located(error: Exception, step: str = "") -> LocatedError:
    """Return the error as a LocatedError with one more step of the path."""
    if not isinstance(error, LocatedError):
        error = LocatedError(TruncatedPayloadError, "the payload ends inside this value")
    error.steps.append(step)
    return error
