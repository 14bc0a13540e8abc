"""An error inside a nested value; it collects its path while it propagates outwards."""

from __future__ import annotations

import struct
from typing import Final, NoReturn

from penstock.errors import PayloadError, SchemaConflictError, TruncatedPayloadError


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
