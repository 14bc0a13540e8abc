"""What an apply would change, and what it refuses to change."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Final

from penstock.errors import OperationError
from penstock.kafka import AccessList

# Without both on the cluster, a user can neither read nor change access lists.
_NEEDED: Final = ("DESCRIBE", "ALTER")
# ALTER implies DESCRIBE, and ALL everything.
_IMPLIED_BY: Final = {"DESCRIBE": {"DESCRIBE", "ALTER", "ALL"}, "ALTER": {"ALTER", "ALL"}}


@dataclass(frozen=True, slots=True)
class AccessPlan:
    """The access lists to create and to delete, those that stay, and those of other users."""

    create: tuple[AccessList, ...]
    delete: tuple[AccessList, ...]
    keep: tuple[AccessList, ...]
    others: tuple[AccessList, ...]

    @property
    def is_change(self) -> bool:
        return bool(self.create or self.delete)


def plan_access(
    wanted: Mapping[str, Set[AccessList]], found: Set[AccessList], caller: str | None
) -> AccessPlan:
    """Compare the wanted access lists with the found ones.

    Args:
        wanted: the access lists by user; what else such a user has is deleted.
        found: the access lists of all users.
        caller: the user who would apply it; None for one whom no access list concerns.

    Raises:
        OperationError: a deny rule concerns a wanted user, or the caller would be locked out.
    """
    every = frozenset().union(*wanted.values())
    theirs = {each for each in found if each.user in wanted}
    plan = AccessPlan(
        tuple(sorted(every - theirs)),
        tuple(sorted(theirs - every)),
        tuple(sorted(every & theirs)),
        tuple(sorted(found - theirs)),
    )
    _refuse_deny_rules(theirs)
    if caller is not None:
        _refuse_lock_out(caller, found, (found - set(plan.delete)) | set(plan.create))
    return plan


def _refuse_deny_rules(theirs: Set[AccessList]) -> None:
    denied = sorted(each for each in theirs if each.permission != "ALLOW")
    if denied:
        raise OperationError(
            f"found {'; '.join(map(str, denied))}, expected no deny rule of a wanted user: a plan "
            "neither creates nor deletes one; remove it with kafka-acls.sh --remove, or leave the "
            "user out"
        )


def _refuse_lock_out(caller: str, before: Set[AccessList], after: Set[AccessList]) -> None:
    lost = [
        operation
        for operation in _NEEDED
        if _may(caller, operation, before) and not _may(caller, operation, after)
    ]
    if lost:
        raise OperationError(
            f"the change takes {' and '.join(lost)} on the cluster from User:{caller}, who makes "
            f"it and could not undo it; add {' and '.join(lost)} on the cluster for {caller} to "
            "the file of --also, or log in as another user"
        )
    # Brokers with allow.everyone.if.no.acl.found let all use a resource until its first rule.
    is_first = _is_ruled(after) and not _is_ruled(before)
    if is_first and not _may(caller, "ALTER", after):
        raise OperationError(
            f"the change makes the first access lists on the cluster, and none is of User:{caller},"
            " whom brokers with allow.everyone.if.no.acl.found then refuse; add ALTER on the "
            f"cluster for {caller} to the file of --also"
        )


def _may(user: str, operation: str, rules: Set[AccessList]) -> bool:
    return any(
        each.user in {user, "*"}
        and each.kind == "CLUSTER"
        and each.permission == "ALLOW"
        and each.operation in _IMPLIED_BY[operation]
        for each in rules
    )


def _is_ruled(rules: Set[AccessList]) -> bool:
    return any(each.kind == "CLUSTER" for each in rules)
