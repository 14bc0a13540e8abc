"""Who calls: the account, region and principal behind the credentials of a request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from moto.core.request import Request
from moto.iam.models import iam_backends

_HEADER_SCOPE = re.compile(r"Credential=([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_QUERY_SCOPE = re.compile(r"([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_ACCOUNT_AS_KEY = re.compile(r"\d{12}")
DEFAULT_ACCOUNT = "123456789012"


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal behind a request; `role_arn` is None for the deploy user, who may do all."""

    account: str
    region: str
    access_key: str
    role_arn: str | None


def read_scope(request: Request) -> tuple[str, str, str] | None:
    """Return access key, region and signing name of a signed request, None if it is not signed."""
    scope = _HEADER_SCOPE.search(request.headers.get("Authorization", "")) or _QUERY_SCOPE.match(
        request.args.get("X-Amz-Credential", "")
    )
    return (scope[1], scope[2], scope[3]) if scope else None


def identify(access_key: str, region: str) -> Caller:
    """Find out whose key it is: 12 digits are that account; others were made by IAM or STS."""
    if _ACCOUNT_AS_KEY.fullmatch(access_key):
        return Caller(access_key, region, access_key, None)
    for account, partitions in list(iam_backends.items()):
        key = partitions["aws"].access_keys.get(access_key)
        if key is not None:
            return Caller(account, region, access_key, getattr(key, "role_arn", None))
    return Caller(DEFAULT_ACCOUNT, region, access_key, None)
