"""The caller: the account, region and principal behind the credentials of a request."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from moto.core.request import Request
from moto.iam.models import iam_backends

from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.identity.credentials import SessionKeys
from localcloud.identity.policies import Principal

_HEADER_SCOPE = re.compile(r"Credential=([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_QUERY_SCOPE = re.compile(r"([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_ACCOUNT_AS_KEY = re.compile(r"\d{12}")
_LIKE_A_REAL_KEY = re.compile(r"A(KIA|SIA)[A-Z2-7]{16}")
DEFAULT_ACCOUNT = "123456789012"


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal behind a request; `role_arn` is None for keys of an account or a user."""

    account: str
    region: str
    access_key: str
    arn: str
    role_arn: str | None = None
    expired: bool = False
    session_policies: tuple[str, ...] = ()
    function_arn: str = ""

    @property
    def principal(self) -> Principal:
        """The caller as policies see it."""
        return Principal(self.account, self.role_arn or self.arn, session_arn=self.arn)


def read_scope(request: Request) -> tuple[str, str, str] | None:
    """Return access key, region and signing name of a request, None if it is not signed."""
    scope = _HEADER_SCOPE.search(request.headers.get("Authorization", "")) or _QUERY_SCOPE.match(
        request.args.get("X-Amz-Credential", "")
    )
    return (scope[1], scope[2], scope[3]) if scope else None


def identify(cloud: Cloud, access_key: str, region: str) -> Caller:
    """Return the owner of an access key.

    A key of 12 digits is that account; IAM and STS create other keys. Any other word ("test") is
    the default account, as in other emulators, except one that looks like a key of AWS.
    """
    account = access_key if _ACCOUNT_AS_KEY.fullmatch(access_key) else DEFAULT_ACCOUNT
    nobody = Caller(account, region, access_key, f"arn:aws:iam::{account}:root")
    if _LIKE_A_REAL_KEY.fullmatch(access_key) is None:
        return nobody
    session = cloud.state(SessionKeys).find(access_key)
    if session is not None:
        return replace(
            nobody,
            account=session.account,
            arn=session.arn,
            role_arn=session.role_arn,
            expired=session.expired,
            session_policies=session.policies,
            function_arn=session.function_arn,
        )
    return _find_user(nobody) or replace(nobody, arn="")


def refuse_unknown(caller: Caller, protocol: str) -> None:
    """Raise AwsError if the caller's key does not exist or has expired."""
    json_service = "json" in protocol
    if not caller.arn:
        code = "UnrecognizedClientException" if json_service else "InvalidClientTokenId"
        raise AwsError(
            code, "The security token included in the request is invalid", status=_status(protocol)
        )
    if caller.expired:
        code = "ExpiredTokenException" if json_service else "ExpiredToken"
        raise AwsError(
            code, "The security token included in the request is expired", status=_status(protocol)
        )


def _status(protocol: str) -> int:
    return 400 if protocol == "json" else 403


def _find_user(nobody: Caller) -> Caller | None:
    for account, partitions in list(iam_backends.items()):
        key = partitions["aws"].access_keys.get(nobody.access_key)
        if key is not None and key.user_name:
            user = partitions["aws"].get_user(key.user_name)
            return replace(nobody, account=account, arn=str(user.arn))
    return None
