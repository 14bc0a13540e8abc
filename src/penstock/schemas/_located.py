"""A failure deep inside a value, and the path that it gathers on its way out."""

from __future__ import annotations

import struct
from typing import Final, NoReturn

from penstock.errors import PayloadError, SchemaConflictError, TruncatedPayloadError


class LocatedError(Exception):
    """What is wrong with one value; every type around it adds its step to the path."""

    def __init__(self, error: type[PayloadError | SchemaConflictError], message: str) -> None:
        """Keep the error that this becomes once its path is known."""
        self.error = error
        self.message = message
        self.steps: list[str] = []

    def leave(self) -> NoReturn:
        """Raise as the error that callers know, naming the path."""
        path = "".join(reversed(self.steps)).removeprefix(".")
        raise self.error(f"{path}: {self.message}" if path else self.message, path=path) from None


# Reading past the end shows as one of the last two: checking each read beforehand costs a third.
READ_ERRORS: Final = (LocatedError, IndexError, struct.error)


def located(error: Exception, step: str = "") -> LocatedError:
    """Turn a failure into a fault, one step further out."""
    if not isinstance(error, LocatedError):
        error = LocatedError(TruncatedPayloadError, "the payload ends inside this value")
    error.steps.append(step)
    return error
