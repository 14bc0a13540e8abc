"""Every error code of AWS that a room asks about has one meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    LoginRefreshRequired,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    SSOTokenLoadError,
    TokenRetrievalError,
    UnauthorizedSSOTokenError,
)

import penstock
from penstock.aws import Fault, classify, classify_answer
from penstock.aws.errors import _FAULTS

_SOURCE = Path(penstock.__file__).parent


@pytest.mark.parametrize(
    ("code", "status", "fault"),
    [
        ("AccessDenied", 403, Fault.DENIED),
        ("AccessDeniedException", 400, Fault.DENIED),
        ("ExpiredToken", 403, Fault.DENIED),
        ("ExpiredTokenException", 400, Fault.DENIED),
        ("IncompleteSignature", 400, Fault.DENIED),
        ("IncompleteSignatureException", 400, Fault.DENIED),
        ("InvalidAccessKeyId", 403, Fault.DENIED),
        ("InvalidClientTokenId", 403, Fault.DENIED),
        ("MissingAuthenticationToken", 403, Fault.DENIED),
        ("MissingAuthenticationTokenException", 400, Fault.DENIED),
        ("SignatureDoesNotMatch", 403, Fault.DENIED),
        ("UnrecognizedClientException", 400, Fault.DENIED),
        ("InvalidSignatureException", 400, Fault.SKEWED),
        ("AuthFailure", 401, Fault.DENIED),
        ("UnauthorizedOperation", 403, Fault.DENIED),
        ("RequestExpired", 400, Fault.SKEWED),
        ("RequestTimeTooSkewed", 403, Fault.SKEWED),
        ("ProvisionedThroughputExceededException", 400, Fault.THROTTLED),
        ("RequestLimitExceeded", 400, Fault.THROTTLED),
        ("SlowDown", 503, Fault.THROTTLED),
        ("Throttling", 400, Fault.THROTTLED),
        ("ThrottlingException", 400, Fault.THROTTLED),
        ("AnotherThrottledException", 400, Fault.THROTTLED),
        ("TooManyRequestsException", 429, Fault.THROTTLED),
        ("InternalFailure", 400, Fault.DOWN),
        ("InternalServerError", 400, Fault.DOWN),
        ("InternalServiceException", 400, Fault.DOWN),
        ("OperationTimeoutException", 400, Fault.DOWN),
        ("ServiceUnavailable", 503, Fault.DOWN),
        ("NobodyKnows", 500, Fault.DOWN),
        ("", 502, Fault.DOWN),
        ("EntityNotFoundException", 400, Fault.MISSING),
        ("NoSuchBucket", 404, Fault.MISSING),
        ("NoSuchKey", 404, Fault.MISSING),
        ("NoSuchEntity", 404, Fault.MISSING),
        ("NoSuchHostedZone", 404, Fault.MISSING),
        ("ResourceNotFoundException", 400, Fault.MISSING),
        ("LoadBalancerNotFound", 400, Fault.MISSING),
        ("AlreadyExistsException", 400, Fault.EXISTS),
        ("ConcurrentModificationException", 400, Fault.CONFLICT),
        ("ResourceNumberLimitExceededException", 400, Fault.FULL),
        ("ConditionalCheckFailedException", 400, Fault.UNMET),
        ("ItemCollectionSizeLimitExceededException", 400, Fault.REFUSED),
        ("ValidationException", 400, Fault.REFUSED),
        ("", 413, Fault.REFUSED),
        ("NobodyKnows", 400, Fault.UNKNOWN),
        ("", 0, Fault.UNKNOWN),
    ],
)
def test_a_code_has_one_meaning(code: str, status: int, fault: Fault) -> None:
    said = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}

    assert classify_answer(code, status) is fault
    assert classify(ClientError(said, "GetItem")) is fault  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ClientError({}, "GetItem"), Fault.UNKNOWN),
        (NoCredentialsError(), Fault.DENIED),
        (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), Fault.DENIED),
        (EndpointConnectionError(endpoint_url="https://a"), Fault.DOWN),
        (ReadTimeoutError(endpoint_url="https://a"), Fault.DOWN),
        (ConnectionResetError("reset"), Fault.DOWN),
        (CredentialRetrievalError(provider="custom-process", error_msg="expired"), Fault.DENIED),
        (CredentialRetrievalError(provider="container-role", error_msg="silent"), Fault.DOWN),
        (CredentialRetrievalError(provider="iam-role", error_msg="silent"), Fault.DOWN),
        (LoginRefreshRequired(), Fault.DENIED),
        (ProfileNotFound(profile="corp"), Fault.DENIED),
        (SSOTokenLoadError(error_msg="none"), Fault.DENIED),
        (TokenRetrievalError(provider="sso", error_msg="expired"), Fault.DENIED),
        (UnauthorizedSSOTokenError(), Fault.DENIED),
        (NoRegionError(), Fault.UNKNOWN),
    ],
)
def test_an_error_without_a_code_is_classified_too(error: Exception, fault: Fault) -> None:
    assert classify(error) is fault


def test_no_other_module_names_a_code() -> None:
    known = {f'"{code}"' for code in _FAULTS} | {'["Error"]["Code"]'}
    naming = {
        path.relative_to(_SOURCE).as_posix(): found
        for path in _SOURCE.rglob("*.py")
        if (found := {code for code in known if code in path.read_text()})
    }

    assert set(naming) == {"aws/errors.py"}
