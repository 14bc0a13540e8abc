"""What botocore raises, as the errors of this project."""

from __future__ import annotations

from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaQuotaError,
)

_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_PASSING = {
    "ConcurrentModificationException",
    "InternalFailure",
    "InternalServiceException",
    "OperationTimeoutException",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
_KINDS: dict[str, type[RegistryError]] = {
    **dict.fromkeys(_DENIED, RegistryAccessDeniedError),
    **dict.fromkeys(_PASSING, RegistryUnavailableError),
    "EntityNotFoundException": SchemaNotFoundError,
    "ResourceNumberLimitExceededException": SchemaQuotaError,
}


def translate(error: Exception, source: str) -> RegistryError:
    """Say in our words what went wrong at the registry `source`, or at STS on the way to it."""
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return RegistryAccessDeniedError(f"no credentials for {source}: {_plain(error)}")
    if not isinstance(error, ClientError):
        return RegistryUnavailableError(f"no answer from {source}: {_plain(error)}")
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    kind = _KINDS.get(code, RegistryUnavailableError if status >= 500 else RegistryError)
    text = _plain(error.response.get("Error", {}).get("Message") or "no reason given")
    if error.operation_name != "AssumeRole":
        return kind(f"{source} answered glue:{error.operation_name} with {code}: {text}")
    if kind is RegistryAccessDeniedError:  # STS does not say which of the two it was
        text += ", expected a role that trusts this caller, and the external id that it asks for"
    return kind(f"{source} answered sts:AssumeRole with {code}: {text}")


def _plain(text: object) -> str:
    return str(text).rstrip(".")
