"""The errors of the registry's operations."""

from __future__ import annotations

from localcloud.door.errors import AwsError

INVALID = "InvalidInputException"


def invalid(message: str) -> AwsError:
    """Return the error of an invalid request."""
    return AwsError(INVALID, message)


def not_found(thing: str) -> AwsError:
    """Return the error of a missing resource; clients tell schema and version by its text."""
    return AwsError("EntityNotFoundException", f"{thing} is not found.")


def quota_reached(message: str) -> AwsError:
    """Return the error of a resource that is one too many."""
    return AwsError("ResourceNumberLimitExceededException", message)
