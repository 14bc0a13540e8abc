"""STS: role sessions, by their trust policies."""

from __future__ import annotations

import re
from typing import Any

from localcloud.door.errors import AwsError, unknown_operation
from localcloud.door.operations import Call, operation
from localcloud.errors import UndecidablePolicyError
from localcloud.identity.callers import Caller, identify
from localcloud.identity.credentials import SessionKey, SessionKeys
from localcloud.identity.permissions import may_assume
from localcloud.identity.roles import (
    assumed_role_arn,
    find_role,
    is_bootstrap_role,
    is_role_arn,
    policy_document,
    role_account,
)

_SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
_MIN_SECONDS, _DEFAULT_SECONDS = 900, 3600
_CHAINED_SECONDS = 3600
# A session without them would be wider, or named otherwise, than the caller requested.
_NOT_IMITATED = {"ProvidedContexts", "SourceIdentity", "Tags", "TransitiveTagKeys"}


@operation("sts", "AssumeRole")
def assume_role(call: Call) -> dict[str, Any]:
    """Return keys of a role, if its trust policy and the caller's policies allow it."""
    role_arn, session_name = call.params["RoleArn"], call.params["RoleSessionName"]
    if not is_role_arn(role_arn):
        raise AwsError("ValidationError", f"{role_arn} is invalid", status=400)
    if _SESSION_NAME.fullmatch(session_name) is None:
        raise AwsError(
            "ValidationError",
            f"Value '{session_name}' at 'roleSessionName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [\\w+=,.@-]*",
            status=400,
        )
    if dropped := sorted(_NOT_IMITATED & call.params.keys()):
        raise unknown_operation(f"{call.name} with {', '.join(dropped)}", call.protocol)
    seconds = int(call.params.get("DurationSeconds") or _DEFAULT_SECONDS)
    _check_allowed(call, role_arn, session_name)
    _check_duration(call.caller, role_arn, seconds)
    key = call.cloud.state(SessionKeys).make(
        role_account(role_arn),
        seconds,
        role_arn=role_arn,
        session_name=session_name,
        policies=_session_policies(call, role_account(role_arn)),
    )
    return {
        "Credentials": _credentials(key),
        "AssumedRoleUser": {
            "AssumedRoleId": _role_session_id(role_arn, session_name),
            "Arn": assumed_role_arn(role_arn, session_name),
        },
        "PackedPolicySize": 6,
    }


@operation("sts", "GetCallerIdentity")
def get_caller_identity(call: Call) -> dict[str, Any]:
    """Return the caller's identity."""
    caller = call.caller
    user_id = caller.account
    if caller.role_arn is not None:
        user_id = _role_session_id(caller.role_arn, caller.arn.rpartition("/")[2])
    return {"UserId": user_id, "Account": caller.account, "Arn": caller.arn}


@operation("sts", "GetSessionToken")
def get_session_token(call: Call) -> dict[str, Any]:
    """Return temporary keys of the caller's account; refuse a caller that uses temporary keys."""
    if call.cloud.state(SessionKeys).find(call.caller.access_key) is not None:
        raise AwsError(
            "AccessDenied", "Cannot call GetSessionToken with session credentials", status=403
        )
    seconds = int(call.params.get("DurationSeconds") or 43200)
    key = call.cloud.state(SessionKeys).make(call.account, seconds)
    return {"Credentials": _credentials(key)}


@operation("sts", "GetAccessKeyInfo")
def get_access_key_info(call: Call) -> dict[str, Any]:
    """Return the account of a key."""
    owner = identify(call.cloud, call.params["AccessKeyId"], call.region)
    if not owner.arn:
        raise AwsError("AccessDenied", f"{call.params['AccessKeyId']} is unknown", status=403)
    return {"Account": owner.account}


def _refuse(call: Call) -> dict[str, Any]:
    """Refuse in localcloud's name: the keys that moto returns would be unknown here."""
    raise unknown_operation(call.name, call.protocol)


for _name in ("AssumeRoleWithSAML", "AssumeRoleWithWebIdentity", "GetFederationToken"):
    operation("sts", _name)(_refuse)


def _credentials(key: SessionKey) -> dict[str, Any]:
    return {
        "AccessKeyId": key.access_key,
        "SecretAccessKey": key.secret_key,
        "SessionToken": key.session_token,
        "Expiration": key.expires_at,
    }


def _role_session_id(role_arn: str, session_name: str) -> str:
    role = find_role(role_arn)
    return f"{role.id if role else 'AROALOCALCLOUDDEPLOY'}:{session_name}"


def _check_allowed(call: Call, role_arn: str, session_name: str) -> None:
    said = (
        f"User: {call.caller.arn} is not authorized to perform: sts:AssumeRole "
        f"on resource: {role_arn}"
    )
    try:
        allowed = may_assume(call, role_arn, session_name, call.params.get("ExternalId"))
    except UndecidablePolicyError as error:
        raise AwsError("AccessDenied", f"{said}: {error}", status=403) from error
    if not allowed:
        raise AwsError("AccessDenied", said, status=403)


def _session_policies(call: Call, account: str) -> tuple[str, ...]:
    """Return the documents that limit the session: its own, and managed ones of the account."""
    found = [call.params["Policy"]] if call.params.get("Policy") else []
    for each in call.params.get("PolicyArns", []):
        document = policy_document(account, each["arn"])
        if document is None:
            raise AwsError("ValidationError", f"Policy {each['arn']} does not exist", status=400)
        found.append(document)
    return tuple(found)


def _check_duration(caller: Caller, role_arn: str, seconds: int) -> None:
    chained = caller.role_arn is not None and not is_bootstrap_role(caller.role_arn)
    if chained and seconds > _CHAINED_SECONDS:
        raise AwsError(
            "ValidationError",
            "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by "
            "role chaining",
            status=400,
        )
    role = find_role(role_arn)
    longest = int((role and role.max_session_duration) or _DEFAULT_SECONDS)
    if role is not None and seconds > longest:
        raise AwsError(
            "ValidationError",
            "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
            status=400,
        )
    if seconds < _MIN_SECONDS:
        raise AwsError(
            "ValidationError",
            f"Value '{seconds}' at 'durationSeconds' failed to satisfy constraint: "
            f"Member must have value greater than or equal to {_MIN_SECONDS}",
            status=400,
        )
