"""Errors that an operation answers with, as AWS would."""

from __future__ import annotations

import logging

from moto.core.exceptions import ServiceException

_log = logging.getLogger(__name__)
# By the protocol of the service; S3 has an error of its own.
_UNKNOWN = {
    "ec2": ("InvalidAction", 400),
    "json": ("UnknownOperationException", 400),
    "query": ("InvalidAction", 400),
}
_UNKNOWN_IN_S3 = ("NotImplemented", 501)


class AwsError(ServiceException):
    """An AWS error: a code of the service's model and a message.

    `status` is the HTTP status for a code that the service's model does not list.
    """

    def __init__(self, code: str, message: str, *, status: int | None = None) -> None:
        super().__init__(code, message)
        self.status = status


def unknown_operation(operation: str, protocol: str) -> AwsError:
    """Return AWS's error for an operation that a service does not have, and log it.

    `operation` is `service:Name`, or the service with method and path.
    """
    said = f"localcloud does not answer {operation}; its page fidelity.md lists what it answers"
    _log.warning("%s", said)
    code, status = _UNKNOWN.get(protocol, ("UnknownOperationException", 404))
    if operation.startswith("s3:"):
        code, status = _UNKNOWN_IN_S3
    return AwsError(code, said, status=status)
