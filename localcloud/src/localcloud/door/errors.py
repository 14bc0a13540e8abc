"""Errors that an operation answers with, as AWS would."""

from __future__ import annotations

from moto.core.exceptions import ServiceException


class AwsError(ServiceException):
    """An AWS error: a code of the service's model and a message.

    `status` is the HTTP status for a code that the service's model does not list.
    """

    def __init__(self, code: str, message: str, *, status: int | None = None) -> None:
        super().__init__(code, message)
        self.status = status


def not_implemented(operation: str) -> AwsError:
    """Return the error for an operation, `service:Name`, that nothing here implements."""
    said = f"neither localcloud nor moto answers {operation}"
    return AwsError("NotImplemented", said, status=501)
