"""Authorization: policies of role and resource together, as AWS combines them.

A caller without a role (a 12-digit key, a user) has all permissions in its own account, and so has
the deploy role until somebody creates it, with policies of its own. In another account the
resource's policy must allow the call as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, EndpointUse
from localcloud.door.service import ErrorCode
from localcloud.door.services import find_service
from localcloud.errors import UndecidablePolicyError
from localcloud.identity import resource_policies
from localcloud.identity.access import Access
from localcloud.identity.callers import Caller
from localcloud.identity.conditions import Context
from localcloud.identity.decisions import Decision, note_decision
from localcloud.identity.dependent_access import list_dependent_access
from localcloud.identity.key_states import find_flaw
from localcloud.identity.policies import (
    Principal,
    Request,
    Statement,
    Verdict,
    judge_identity,
    judge_resource,
    read_statements,
)
from localcloud.identity.resources import list_access, list_access_by_endpoint
from localcloud.identity.roles import (
    assumed_role_arn,
    boundary_statements,
    find_role,
    is_bootstrap_role,
    permission_statements,
    role_account,
    trust_statements,
)


def authorize(call: Call) -> str:
    """Refuse a call that policies do not allow; return the account that owns its resource.

    Raises:
        AwsError: AccessDenied, as the service names it.
    """
    for access in list_access_by_endpoint(call):
        _check_endpoint(call, access, resource_policies.owner_of(access.resource, call.account))
    accesses = [*list_access(call), *list_dependent_access(call)]
    owners = [resource_policies.owner_of(each.resource, call.account) for each in accesses]
    for access, owner in zip(accesses, owners, strict=True):
        _check(call, access, owner)
    # The first is the resource of the call; the others are used along with it, such as a key.
    return owners[0] if owners else call.account


def may(role_arn: str, action: str, resource: str, context: Context | None = None) -> bool:
    """Return whether a role's policies allow an action on a resource of its own account.

    Raises:
        UndecidablePolicyError: a condition operator that localcloud does not know.
    """
    session = assumed_role_arn(role_arn, "session")
    caller = Caller(role_account(role_arn), "", "", session, role_arn)
    request = Request(action, resource, _context(caller) | dict(context or {}))
    return _judge_caller(caller, request).verdict is Verdict.ALLOWED


def may_assume(call: Call, role_arn: str, session_name: str, external_id: str | None) -> bool:
    """Return whether the trust policy and the caller's policies let the caller assume a role.

    Raises:
        UndecidablePolicyError: a condition operator that localcloud does not know.
    """
    caller, role = call.caller, find_role(role_arn)
    if role is None:
        return _is_free(caller) and is_bootstrap_role(role_arn)
    context = _context(caller, call.endpoint) | {"sts:RoleSessionName": session_name}
    if external_id is not None:
        context["sts:ExternalId"] = external_id
    request = Request("sts:AssumeRole", role_arn, context)
    return _combine(
        _judge_caller(caller, request),
        judge_resource(trust_statements(role), request, caller.principal),
        same_account=caller.account == role.account_id,
        needs_resource=True,
    )


def may_be_assumed_by_service(role_arn: str, service: str, context: Context | None = None) -> bool:
    """Return whether a role trusts a service, such as lambda.amazonaws.com."""
    role = find_role(role_arn)
    if role is None:
        return is_bootstrap_role(role_arn)
    principal = Principal(role.account_id, "", service=service)
    request = Request("sts:AssumeRole", role_arn, dict(context or {}))
    return judge_resource(trust_statements(role), request, principal) is Verdict.ALLOWED


class _Own(NamedTuple):
    """The verdict of a caller's own policies, and that of what limits them.

    The limits are the permissions boundary and the session policies.
    """

    policies: Verdict
    limits: Verdict = Verdict.ALLOWED

    @property
    def verdict(self) -> Verdict:
        """The verdict of both: each must allow."""
        return Verdict.DENIED if Verdict.DENIED in self else min(self, key=lambda one: one.value)


@dataclass(frozen=True, slots=True)
class _Denial:
    """A denial with AWS's message."""

    caller: Caller
    access: Access
    own: _Own
    by_resource: Verdict = field(default=Verdict.SILENT)

    def __str__(self) -> str:
        return _refusal(self.caller, self.access, self._reason())

    def _reason(self) -> str:
        if self.own.verdict is Verdict.DENIED:
            return "with an explicit deny in an identity-based policy"
        if self.by_resource is Verdict.DENIED:
            return "with an explicit deny in a resource-based policy"
        kind = "resource" if self.own.verdict is Verdict.ALLOWED else "identity"
        return f"because no {kind}-based policy allows the {self.access.action} action"


def _check_endpoint(call: Call, access: Access, owner: str) -> None:
    """Check the policy of the endpoint that the call passes, for any caller."""
    if call.endpoint is None:
        return
    request = _request(call, access, owner)
    statements = read_statements(call.endpoint.policy)
    try:
        verdict = judge_resource(statements, request, call.caller.principal)
    except UndecidablePolicyError as error:
        raise _denied(call, f"{error}: {access.action} is refused") from error
    if verdict not in {Verdict.ALLOWED, Verdict.ACCOUNT}:
        why = (
            "with an explicit deny in a VPC endpoint policy"
            if verdict is Verdict.DENIED
            else f"because no VPC endpoint policy allows the {access.action} action"
        )
        raise _denied(call, _refusal(call.caller, access, why))


def _request(call: Call, access: Access, owner: str) -> Request:
    context = _context(call.caller, call.endpoint) | _call_context(call) | dict(access.context)
    return Request(access.action, access.resource, context | {"aws:ResourceAccount": owner})


def _refusal(caller: Caller, access: Access, why: str) -> str:
    on = f" on resource: {access.resource}" if access.resource else ""
    return f"User: {caller.arn} is not authorized to perform: {access.action}{on} {why}"


def _check(call: Call, access: Access, owner: str) -> None:
    caller = call.caller
    request = _request(call, access, owner)
    try:
        own = _judge_caller(caller, request)
        statements = resource_policies.policy_of(access.resource)
        by_resource = judge_resource(statements or [], request, caller.principal)
    except UndecidablePolicyError as error:
        raise _denied(call, f"{error}: {access.action} is refused") from error
    needs_key_policy = access.action.startswith("kms:") and bool(statements)
    if not _combine(
        own,
        by_resource,
        same_account=caller.account == owner,
        needs_resource=needs_key_policy,
    ):
        raise _denied(call, str(_Denial(caller, access, own, by_resource)))
    if flaw := find_flaw(access.action, access.resource):
        raise find_service(call.service).key_error(flaw)


def _combine(
    own: _Own,
    by_resource: Verdict,
    *,
    same_account: bool,
    needs_resource: bool = False,
) -> bool:
    """Combine both sides: inside an account one is enough, across accounts both must allow.

    A key's policy and a role's trust policy must allow the call inside the account as well. A
    resource's policy that names the role, not its session, does not lift the role's limits
    (IAM User Guide, "Permissions boundaries for IAM entities").
    """
    if Verdict.DENIED in (*own, by_resource):
        return False
    if same_account and by_resource is Verdict.ALLOWED:
        return True
    if own.limits is not Verdict.ALLOWED:
        return False
    if same_account and by_resource is Verdict.ROLE:
        return True
    if own.policies is not Verdict.ALLOWED:
        return False
    return (same_account and not needs_resource) or by_resource is not Verdict.SILENT


def _judge_caller(caller: Caller, request: Request) -> _Own:
    if _is_free(caller):
        return _Own(Verdict.ALLOWED)
    assert caller.role_arn is not None  # noqa: S101 - otherwise it is free
    own = _judge_role(caller, caller.role_arn, request)
    allowed = own.verdict is Verdict.ALLOWED
    note_decision(Decision(caller.role_arn, request.action, request.resource, allowed))
    return own


def _judge_role(caller: Caller, role_arn: str, request: Request) -> _Own:
    role = find_role(role_arn)
    if role is None:
        return _Own(Verdict.SILENT, Verdict.SILENT)
    limits = [
        judge_identity(limit, request)
        for limit in (boundary_statements(role), _session_statements(caller))
        if limit is not None
    ]
    own = _Own(judge_identity(permission_statements(role), request))
    return own._replace(limits=_Own(*limits).verdict) if limits else own


def _session_statements(caller: Caller) -> list[Statement] | None:
    """Return the statements of all session policies, which allow together, or None without one."""
    if not caller.session_policies:
        return None
    return [each for policy in caller.session_policies for each in read_statements(policy)]


def _is_free(caller: Caller) -> bool:
    return caller.role_arn is None or is_bootstrap_role(caller.role_arn)


def _context(caller: Caller, endpoint: EndpointUse | None = None) -> dict[str, str]:
    # Lambda Developer Guide, "Working with Lambda execution environment credentials": of calls by a
    # function's code, and of none that Lambda makes with its role.
    function = {"lambda:SourceFunctionArn": caller.function_arn} if caller.function_arn else {}
    return (
        _source(endpoint)
        | function
        | {
            "aws:PrincipalArn": caller.role_arn or caller.arn,
            "aws:PrincipalAccount": caller.account,
            "aws:PrincipalType": "AssumedRole" if caller.role_arn else "Account",
            "aws:RequestedRegion": caller.region,
            "aws:SecureTransport": "true",  # on AWS the same call goes over TLS
            "aws:CurrentTime": datetime.now(UTC).isoformat(),
        }
    )


def _source(endpoint: EndpointUse | None) -> dict[str, str]:
    if endpoint is None:
        return {"aws:SourceIp": "127.0.0.1"}
    return {"aws:SourceVpc": endpoint.vpc_id, "aws:SourceVpce": endpoint.endpoint_id}


def _call_context(call: Call) -> dict[str, str]:
    context = {}
    if namespace := call.params.get("Namespace"):
        context["cloudwatch:namespace"] = str(namespace)
    if prefix := call.params.get("Prefix"):
        context["s3:prefix"] = str(prefix)
    for name, value in (call.params.get("EncryptionContext") or {}).items():
        context[f"kms:EncryptionContext:{name}"] = str(value)
    context["kms:CallerAccount"] = call.account
    if call.service != "kms":
        context["kms:ViaService"] = f"{call.service}.{call.region}.amazonaws.com"
    return context


_XML_PROTOCOLS = frozenset({"query", "ec2", "rest-xml"})


def _denied(call: Call, message: str) -> AwsError:
    usual = "AccessDenied" if call.protocol in _XML_PROTOCOLS else "AccessDeniedException"
    usual_error = ErrorCode(usual, 400 if call.protocol == "json" else 403)
    code, status = find_service(call.service).denial or usual_error
    return AwsError(code, message, status=status)
