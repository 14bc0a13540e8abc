"""The producer's schema registry, and the role that the consumer's programs read it by."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops.places import list_functions

_PRODUCER = Side.PRODUCER
_READS = "glue:GetSchemaVersion"


def look_at_registry(world: World) -> Iterator[Seen | Break]:
    """Check that the registry is there."""
    name = world.contract["registry"]["name"]
    asked = {"RegistryId": {"RegistryName": name}}
    if world.ask(_PRODUCER, "glue", "get_registry", **asked):
        yield Seen(f"registry {name}")
    else:
        yield Break(
            "registry-missing",
            name,
            f"no registry {name}",
            "the registry of the contract",
            "stop the producers, then docs/operate/schemas.md#the-registry-was-deleted",
        )


def look_at_reader_role(world: World) -> Iterator[Seen | Break]:
    """Check that the reader role trusts the consumer's roles, and may read schemas."""
    role = world.contract["registry"]["role_arn"].rpartition("/")[2]
    found = world.ask(_PRODUCER, "iam", "get_role", RoleName=role)
    if found is None:
        yield Break("reader-role-missing", role, f"no role {role}", "the role that reads schemas")
        return
    trust = found["Role"]["AssumeRolePolicyDocument"]["Statement"]
    if not any(_trusts(each, world) for each in trust):
        yield Break(
            "reader-role-distrusts",
            role,
            f"the trust policy of {role} does not let the consumer's roles assume it",
            "the consumer's account, its roles, and the external id of the contract",
        )
    if not any(_READS in _listed(each["Action"]) for each in _list_statements(world, role)):
        yield Break(
            "reader-role-forbidden", role, f"no policy of {role} allows {_READS}", "one that does"
        )
    yield Seen(f"{role} reads schemas")


def _trusts(statement: dict[str, Any], world: World) -> bool:
    if statement["Effect"] != "Allow" or "sts:AssumeRole" not in _listed(statement["Action"]):
        return False
    conditions = statement.get("Condition", {})
    equal, like = conditions.get("StringEquals", {}), conditions.get("StringLike", {})
    external_id = _listed(equal.get("sts:ExternalId", world.contract["registry"]["external_id"]))
    patterns = _listed(like.get("aws:PrincipalArn", "*"))
    principal = statement.get("Principal", {})
    principals = _listed(principal if isinstance(principal, str) else principal.get("AWS", ""))
    account = world.deployment.account_of(Side.CONSUMER)
    return (
        world.contract["registry"]["external_id"] in external_id
        and (not account or any(each == "*" or account in each.split(":") for each in principals))
        and all(any(fnmatchcase(role, it) for it in patterns) for role in _list_roles(world))
    )


def _list_roles(world: World) -> list[str]:
    """Return the roles of the consumer functions that are there; none if they cannot be seen."""
    try:
        return [function["Role"] for _, function in list_functions(world)]
    except NotSeenError:
        return []


def _list_statements(world: World, role: str) -> Iterator[dict[str, Any]]:
    names = world.ask(_PRODUCER, "iam", "list_role_policies", RoleName=role)
    for name in (names or {}).get("PolicyNames", []):
        asked = {"RoleName": role, "PolicyName": name}
        found = world.ask(_PRODUCER, "iam", "get_role_policy", **asked)
        yield from (found or {"PolicyDocument": {"Statement": []}})["PolicyDocument"]["Statement"]


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
