"""The error codes of AWS services, classified once for every caller.

| fault     | meaning                                            | retry          |
| --------- | -------------------------------------------------- | -------------- |
| denied    | no credentials, or no permission for the call      | after a fix    |
| skewed    | the signature is for another time                  | with its clock |
| throttled | too many calls                                     | after a pause  |
| down      | the service failed, or did not answer              | after a pause  |
| missing   | what the request names does not exist              | after a fix    |
| exists    | what the request creates exists already            | no             |
| conflict  | another writer changed the same thing              | after a read   |
| full      | a quota of the account is used up                  | after a fix    |
| unmet     | the condition of a conditional write does not hold | no             |
| refused   | the request itself is not acceptable               | no             |
| unknown   | a code that is not in the table                    | caller decides |
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.client import HTTPException
from typing import Final

from botocore import exceptions
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from penstock.errors import SinkAccessDeniedError, SinkUnavailableError


class Fault(StrEnum):
    """The class of an AWS service's error, which tells the caller whether to retry."""

    DENIED = "denied"
    SKEWED = "skewed"
    THROTTLED = "throttled"
    DOWN = "down"
    MISSING = "missing"
    EXISTS = "exists"
    CONFLICT = "conflict"
    FULL = "full"
    UNMET = "unmet"
    REFUSED = "refused"
    UNKNOWN = "unknown"


_CODES: Final[dict[Fault, tuple[str, ...]]] = {
    Fault.DENIED: (
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    ),
    Fault.SKEWED: ("InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed"),
    Fault.THROTTLED: (
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    ),
    Fault.DOWN: (
        "InternalFailure",
        "InternalServerError",
        "InternalServiceException",
        "OperationTimeoutException",
        "ServiceUnavailable",
    ),
    Fault.MISSING: (
        "EntityNotFoundException",
        "NoSuchBucket",
        "NoSuchEntity",
        "NoSuchHostedZone",
        "NoSuchKey",
        "NoSuchResourceException",
        "ResourceNotFoundException",
    ),
    Fault.EXISTS: ("AlreadyExistsException",),
    Fault.CONFLICT: ("ConcurrentModificationException",),
    Fault.FULL: ("ResourceNumberLimitExceededException",),
    Fault.UNMET: ("ConditionalCheckFailedException", "PreconditionFailed"),
    Fault.REFUSED: ("ItemCollectionSizeLimitExceededException", "ValidationException"),
}
_FAULTS: Final = {code: fault for fault, codes in _CODES.items() for code in codes}
_NO_CREDENTIALS: Final = (
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
    getattr(exceptions, "LoginError", SSOError),  # not in older versions of botocore
)
# Their endpoints, on the machine itself, may answer again.
_LOCAL_PROVIDERS: Final = ("container-role", "iam-role")
_S3_ERRORS: Final[dict[Fault, type[Exception]]] = {
    Fault.DENIED: SinkAccessDeniedError,
    Fault.SKEWED: SinkAccessDeniedError,
    Fault.UNMET: FileExistsError,
}
_TOO_LARGE: Final = 413
_SERVER_ERROR: Final = 500


def classify(error: Exception) -> Fault:
    """Classify an error that botocore or our own client raised for a call."""
    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        return classify_answer(
            code, error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        )
    if isinstance(error, _NO_CREDENTIALS):
        is_local = error.kwargs.get("provider") in _LOCAL_PROVIDERS
        return Fault.DOWN if is_local else Fault.DENIED
    if isinstance(error, ConnectionError | HTTPClientError | OSError | HTTPException):
        return Fault.DOWN
    return Fault.UNKNOWN


def classify_answer(code: str, status: int) -> Fault:
    """Classify an error answer by its code, or by its HTTP status if the code is unknown."""
    if fault := _FAULTS.get(code):
        return fault
    if status >= _SERVER_ERROR:
        return Fault.DOWN
    if status == _TOO_LARGE:
        return Fault.REFUSED
    if "NotFound" in code:  # services name what they do not find
        return Fault.MISSING
    return Fault.THROTTLED if "Throttl" in code else Fault.UNKNOWN


@contextmanager
def translated_s3_errors(problem: str) -> Iterator[None]:
    """Translate errors of botocore's S3 client; the message is `<problem>: <reason>`.

    Raises:
        FileExistsError: there is an object, and the call was to write none over it.
        SinkAccessDeniedError: no credentials, or no permission (retriable).
        SinkUnavailableError: the bucket is throttling, down or missing (retriable).
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, (ClientError, BotoCoreError, *_parser_errors())):
            raise
        kind = _S3_ERRORS.get(classify(error), SinkUnavailableError)
        raise kind(f"{problem}: {str(error).rstrip('.')}") from error


def _parser_errors() -> tuple[type[Exception], ...]:
    """Return the error of botocore's parsers if they were imported; a function seldom does."""
    parsers = sys.modules.get("botocore.parsers")
    return (parsers.ResponseParserError,) if parsers else ()
