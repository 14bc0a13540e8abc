"""The operations on grants."""

from __future__ import annotations

from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.identity.catalog_access import lake_of
from localcloud.identity.lake_grants import IAM_ALLOWED, Grant, Resource
from localcloud.identity.roles import find_role, is_role_arn
from localcloud.services.lakeformation.resources import (
    INVALID,
    grants_of,
    read_resource,
    show_resource,
    split,
)

_GRANTABLE = "PermissionsWithGrantOption"
_PAGES = Pages("NextToken", "MaxResults", 1000, INVALID)


@operation("lakeformation", "GrantPermissions")
def grant_permissions(call: Call) -> dict[str, Any]:
    """Grant permissions on a resource."""
    check_params(call, INVALID)
    _grant(call, call.params)
    return {}


@operation("lakeformation", "RevokePermissions")
def revoke_permissions(call: Call) -> dict[str, Any]:
    """Take permissions on a resource from a principal."""
    check_params(call, INVALID)
    _revoke(call, call.params)
    return {}


@operation("lakeformation", "BatchGrantPermissions")
def batch_grant_permissions(call: Call) -> dict[str, Any]:
    """Grant each entry by itself, and return those that failed."""
    return _each(call, _grant)


@operation("lakeformation", "BatchRevokePermissions")
def batch_revoke_permissions(call: Call) -> dict[str, Any]:
    """Revoke each entry by itself, and return those that failed."""
    return _each(call, _revoke)


@operation("lakeformation", "ListPermissions")
def list_permissions(call: Call) -> dict[str, Any]:
    """List grants: all of them for an administrator, its own for another principal."""
    check_params(call, INVALID)
    params, lake = call.params, lake_of(call)
    principal = params.get("Principal", {}).get("DataLakePrincipalIdentifier")
    wanted = read_resource(call, params["Resource"]) if params.get("Resource") else None
    found = [
        grant
        for grant in grants_of(call).list_grants()
        if principal in {None, grant.principal}
        and (lake.sees_all or grant.principal == lake.principal)
        and (wanted is None or _is_on(grant.resource, wanted))
    ]
    page, more = _PAGES.cut(call, found)
    return {"PrincipalResourcePermissions": [_show(call, one) for one in page], **more}


def _each(call: Call, change: Any) -> dict[str, Any]:
    check_params(call, INVALID)
    failures = []
    for entry in call.params["Entries"]:
        try:
            change(call, entry)
        except AwsError as error:
            said = {"ErrorCode": error.code, "ErrorMessage": error.message}
            failures.append({"RequestEntry": entry, "Error": said})
    return {"Failures": failures}


def _grant(call: Call, entry: dict[str, Any]) -> None:
    for grant in _read_grants(call, entry):
        _check_grantor(call, grant)
        grants_of(call).grant(grant)


def _revoke(call: Call, entry: dict[str, Any]) -> None:
    read = _read_grants(call, entry)
    for grant in read:
        _check_grantor(call, grant)
    if not sum(grants_of(call).revoke(grant) for grant in read):
        raise AwsError(
            INVALID,
            "No permissions revoked. Grantee has no permissions and no grantable permissions on "
            "resource",
        )


def _read_grants(call: Call, entry: dict[str, Any]) -> list[Grant]:
    """Return the grants of an entry, after the kind of resource that each is on."""
    principal = entry["Principal"]["DataLakePrincipalIdentifier"]
    _check_principal(call, principal)
    if entry.get("Condition"):
        raise AwsError(INVALID, "localcloud has no conditions of grants")
    resource = read_resource(call, entry["Resource"])
    given = split(resource, entry.get("Permissions", []))
    grantable = split(resource, entry.get(_GRANTABLE, []))
    return [
        Grant(principal, part, given.get(part, frozenset()), grantable.get(part, frozenset()))
        for part in given | grantable
    ]


def _check_principal(call: Call, principal: str) -> None:
    if principal in {IAM_ALLOWED, f"{call.account}:IAMPrincipals"}:
        return
    if not is_role_arn(principal):
        raise AwsError(
            INVALID,
            f"Invalid principal, {principal}: localcloud grants to roles, {IAM_ALLOWED} and "
            f"{call.account}:IAMPrincipals",
        )
    if find_role(principal) is None:
        raise AwsError(INVALID, f"Invalid principal, {principal}")


def _check_grantor(call: Call, grant: Grant) -> None:
    """Refuse a caller that may not pass these permissions on."""
    lake = lake_of(call)
    if lake.administers:
        return
    own = {
        permission
        for held in lake.grants.held_by(str(lake.principal))
        if held.resource == grant.resource
        for permission in held.grantable
    }
    if not grant.permissions | grant.grantable <= own:
        raise AwsError(
            "AccessDeniedException",
            "Insufficient Lake Formation permission(s): Required "
            f"{', '.join(sorted((grant.permissions | grant.grantable) - own))} with grant option",
        )


def _is_on(resource: Resource, wanted: Resource) -> bool:
    """Return whether a grant is on what ListPermissions asks for; a table has its columns too."""
    if wanted.kind != "table":
        return resource == wanted
    return resource.kind in {"columns", "table"} and resource.names == wanted.names


def _show(call: Call, grant: Grant) -> dict[str, Any]:
    return {
        "Principal": {"DataLakePrincipalIdentifier": grant.principal},
        "Resource": show_resource(call, grant.resource),
        "Permissions": sorted(grant.permissions),
        _GRANTABLE: sorted(grant.grantable),
    }
