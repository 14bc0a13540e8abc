"""What a plan creates, deletes, keeps and leaves alone, and the changes that it refuses."""

from __future__ import annotations

import re

import pytest

from penstock.errors import OperationError
from penstock.extensions.access.plan import plan_access
from penstock.kafka import AccessList, Reader

_CLUSTER = ("CLUSTER", "kafka-cluster")
_READ = AccessList("anna", "READ", "TOPIC", "sensor")
_WRITE = AccessList("anna", "WRITE", "TOPIC", "sensor")
_OTHER = AccessList("olga", "READ", "TOPIC", "sensor")
_ALTER = AccessList("admin", "ALTER", *_CLUSTER)


def test_lists_are_sorted_into_missing_surplus_kept_and_those_of_others() -> None:
    group = AccessList("anna", "READ", "GROUP", "anna-", is_prefix=True)

    plan = plan_access({"anna": {_READ, group}}, {_READ, _WRITE, _OTHER}, None)

    assert (plan.create, plan.delete) == ((group,), (_WRITE,))
    assert (plan.keep, plan.others) == ((_READ,), (_OTHER,))
    assert plan.is_change


def test_what_is_found_as_wanted_is_no_change() -> None:
    assert not plan_access({"anna": {_READ}}, {_READ, _OTHER}, "olga").is_change


@pytest.mark.parametrize(
    "surplus",
    [
        AccessList("anna", "READ", "TOPIC", "sensor", host="10.0.1.7"),
        AccessList("anna", "READ", "TOPIC", "sensor", is_prefix=True),
        AccessList("anna", "READ", "GROUP", "sensor"),
        AccessList("anna", "DESCRIBE", "TOPIC", "sensor"),
    ],
    ids=str,
)
def test_another_host_pattern_kind_or_operation_is_surplus(surplus: AccessList) -> None:
    assert plan_access({"anna": {_READ}}, {_READ, surplus}, None).delete == (surplus,)


def test_a_user_without_wanted_lists_loses_all() -> None:
    assert plan_access({"anna": set()}, {_READ, _OTHER}, None).delete == (_READ,)


def test_a_deny_rule_of_a_wanted_user_is_refused() -> None:
    denied = AccessList("anna", "READ", "TOPIC", "secret", permission="DENY")
    found = "found User:anna DENY READ on topic secret, expected no deny rule of a wanted user: "

    with pytest.raises(OperationError, match=f"^{re.escape(found)}"):
        plan_access({"anna": {_READ}}, {_READ, denied}, None)
    assert plan_access({"olga": {_OTHER}}, {_OTHER, denied}, None).others == (denied,)


@pytest.mark.parametrize("operation", ["ALTER", "ALL"])
def test_a_change_that_locks_its_caller_out_is_refused(operation: str) -> None:
    own = AccessList("admin", operation, *_CLUSTER)
    wanted = {"admin": {AccessList("admin", "DESCRIBE_CONFIGS", *_CLUSTER)}}
    message = (
        "the change takes DESCRIBE and ALTER on the cluster from User:admin, who makes it and could"
        " not undo it; add DESCRIBE and ALTER on the cluster for admin to the file of --also"
    )

    with pytest.raises(OperationError, match=f"^{re.escape(message)}"):
        plan_access(wanted, {own}, "admin")
    for caller in (None, "olga"):
        assert plan_access(wanted, {own}, caller).delete == (own,)


def test_a_caller_who_keeps_describe_alone_is_refused_too() -> None:
    wanted = {"admin": {AccessList("admin", "DESCRIBE", *_CLUSTER)}}

    with pytest.raises(OperationError, match=r"^the change takes ALTER on the cluster from User:"):
        plan_access(wanted, {_ALTER}, "admin")


def test_a_caller_who_keeps_what_he_needs_may_change_his_lists() -> None:
    every = AccessList("admin", "ALL", *_CLUSTER)

    assert plan_access({"admin": {_ALTER}}, {_ALTER, every}, "admin").delete == (every,)
    by_all = AccessList("*", "ALL", *_CLUSTER)
    assert plan_access({"admin": {_READ}}, {_ALTER, by_all}, "admin").delete == (_ALTER,)


def test_the_first_rule_on_the_cluster_is_refused_to_a_caller_without_one() -> None:
    wanted = {"anna": Reader("anna", ("sensor",), "anna-").access_lists}
    message = "the change makes the first access lists on the cluster, and none is of User:admin,"

    with pytest.raises(OperationError, match=f"^{re.escape(message)}"):
        plan_access(wanted, {_OTHER}, "admin")
    assert plan_access(wanted, {_OTHER}, None).is_change
    assert plan_access(wanted, {AccessList("olga", "ALTER", *_CLUSTER)}, "admin").is_change
    assert plan_access(wanted | {"admin": {_ALTER}}, set(), "admin").is_change
