"""The access lists of a cluster: all of them, a plan, and the plan applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.extensions.access.plan import AccessPlan, plan_access
from penstock.extensions.access.wanted import Wanted
from penstock.kafka import (
    AccessList,
    KafkaSettings,
    apply_access_lists,
    find_user,
    read_access_lists,
)


def list_access(settings: KafkaSettings) -> tuple[AccessList, ...]:
    """Return the access lists of all users, in the order of their users.

    Raises:
        BrokerError: they cannot be read; the subclass says why.
    """
    return tuple(sorted(read_access_lists(settings)))


def plan_change(settings: KafkaSettings, wanted: Wanted) -> AccessPlan:
    """Compare the wanted access lists with those of the brokers, and change nothing.

    Raises:
        BrokerError: as in `list_access`.
        OperationError: the plan is refused, as `plan_access` says.
    """
    return plan_access(wanted, read_access_lists(settings), find_user(settings))


def apply_change(
    settings: KafkaSettings, wanted: Wanted, tell: Callable[[AccessPlan], None]
) -> None:
    """Create the access lists that wanted users lack, and delete their others.

    `tell` is called with what was created and deleted, even if an error or ctrl-C comes midway.

    Raises:
        BrokerError: an access list cannot be read, created or deleted.
        OperationError: the plan is refused, as `plan_access` says.
    """
    plan = plan_change(settings, wanted)
    done: list[AccessList] = []
    try:
        if plan.is_change:
            apply_access_lists(settings, wanted, done.append)
    except BaseException:
        create, delete = (
            tuple(each for each in lists if each in done) for lists in (plan.create, plan.delete)
        )
        tell(replace(plan, create=create, delete=delete))
        raise
    tell(plan)
