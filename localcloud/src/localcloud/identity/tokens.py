"""The check of an MSK IAM token as MSK's brokers do it: signature, expiry, principal.

A token is the url-safe base64 of a presigned GET on `https://kafka.<region>.amazonaws.com/`
(service `kafka-cluster`, action `kafka-cluster:Connect`). Java clients send the parts of such a URL
as a JSON object instead, signed for the broker that they connect to.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from localcloud.errors import TokenRefusedError

_HOST = re.compile(r"kafka\.([a-z0-9-]+)\.amazonaws\.com")
_TIME = "%Y%m%dT%H%M%SZ"
_MAX_EXPIRES_SECONDS = 900
_CLOCK_SKEW = timedelta(minutes=5)
_NOT_SIGNED = ("X-Amz-Signature", "User-Agent")  # the signer adds both after signing
_SIGNED_NAMES = (
    "Action",
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-SignedHeaders",
    "X-Amz-Signature",
)
_REQUIRED = ("X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Signature")


@dataclass(frozen=True, slots=True)
class KnownKey:
    """An existing access key and its owner; session keys have a token and an expiry."""

    principal: str
    secret_key: str
    session_token: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AcceptedToken:
    """The owner of the token, and the expiry of the login."""

    principal: str
    expires_at: datetime


def check_token(
    token: str, find_key: Callable[[str], KnownKey | None], now: datetime
) -> AcceptedToken:
    """Check a token against the existing keys; `find_key` returns one by its id.

    Raises:
        TokenRefusedError: with the reason, which reaches the client.
    """
    host, query = _split_token(token)
    if (match := _HOST.fullmatch(host)) is None:
        raise TokenRefusedError(f"signed for {host!r}, not for kafka.<region>.amazonaws.com")
    return _check_signed(host, match[1], query, find_key, now)


def check_payload(
    payload: str,
    region: str,
    hosts: Collection[str],
    find_key: Callable[[str], KnownKey | None],
    now: datetime,
) -> AcceptedToken:
    """Check the payload of the mechanism AWS_MSK_IAM, signed for one of the hosts.

    Raises:
        TokenRefusedError: with the reason, which reaches the client.
    """
    host, query = _split_payload(payload)
    if host not in hosts:
        raise TokenRefusedError(f"signed for {host!r}, which is not a broker of this cluster")
    return _check_signed(host, region, query, find_key, now)


def _check_signed(
    host: str,
    region: str,
    query: dict[str, str],
    find_key: Callable[[str], KnownKey | None],
    now: datetime,
) -> AcceptedToken:
    access_key, _, scope = query["X-Amz-Credential"].partition("/")
    known = find_key(access_key)
    if known is None:
        raise TokenRefusedError(f"the access key {access_key!r} does not exist")
    if query.get("Action") != "kafka-cluster:Connect":
        raise TokenRefusedError(f"the action is {query.get('Action')!r}, not kafka-cluster:Connect")
    if scope.split("/")[1:] != [region, "kafka-cluster", "aws4_request"]:
        raise TokenRefusedError(f"the credential's scope is {scope!r}")
    if query.get("X-Amz-Security-Token") != known.session_token:
        raise TokenRefusedError("the session token is not the one of its access key")
    expected = _sign(host, region, query, access_key, known)
    if not hmac.compare_digest(expected, query["X-Amz-Signature"]):
        raise TokenRefusedError("the signature does not match")
    return AcceptedToken(known.principal, _check_time(query, known, now))


def _split_token(token: str) -> tuple[str, dict[str, str]]:
    try:
        url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
        query = parse_qs(url.query, strict_parsing=True)
    except ValueError as error:
        raise TokenRefusedError("not the url-safe base64 of a presigned URL") from error
    return url.netloc, _require({name: values[0] for name, values in query.items()})


def _split_payload(payload: str) -> tuple[str, dict[str, str]]:
    """Read the JSON object and name its members as in the signed query string."""
    try:
        given = {str(name).lower(): str(value) for name, value in json.loads(payload).items()}
    except (ValueError, AttributeError) as error:
        raise TokenRefusedError("not the JSON object of AWS_MSK_IAM") from error
    query = {name: given[name.lower()] for name in _SIGNED_NAMES if name.lower() in given}
    return given.get("host", ""), _require(query)


def _require(query: dict[str, str]) -> dict[str, str]:
    if missing := [name for name in _REQUIRED if name not in query]:
        raise TokenRefusedError(f"{', '.join(missing)} is missing")
    return query


def _sign(host: str, region: str, query: dict[str, str], access_key: str, known: KnownKey) -> str:
    """Sign the same request with the key's own secret."""
    signed = {name: value for name, value in query.items() if name not in _NOT_SIGNED}
    credentials = Credentials(access_key, known.secret_key, known.session_token)
    auth = SigV4QueryAuth(credentials, "kafka-cluster", region)
    request = AWSRequest("GET", f"https://{host}/?{urlencode(signed, quote_via=quote)}")
    request.context["timestamp"] = query["X-Amz-Date"]
    to_sign = auth.string_to_sign(request, auth.canonical_request(request))
    return str(auth.signature(to_sign, request))


def _check_time(query: dict[str, str], known: KnownKey, now: datetime) -> datetime:
    """Return the expiry of the login. The signature is valid, so the times are well-formed."""
    signed_at = datetime.strptime(query["X-Amz-Date"], _TIME).replace(tzinfo=UTC)
    seconds = int(query["X-Amz-Expires"])
    if not 0 < seconds <= _MAX_EXPIRES_SECONDS:
        raise TokenRefusedError(f"it expires after {seconds} s, expected 1 to 900")
    if signed_at > now + _CLOCK_SKEW:
        raise TokenRefusedError(f"it is signed in the future, at {signed_at:{_TIME}}")
    expires_at = signed_at + timedelta(seconds=seconds)
    if known.expires_at is not None:
        expires_at = min(expires_at, known.expires_at)
    if expires_at <= now:
        raise TokenRefusedError(f"it expired at {expires_at:{_TIME}}")
    return expires_at
