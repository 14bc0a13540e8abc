"""Rules of security groups: moto keeps the descriptions of those for addresses alone."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.security_groups import SecurityGroupRule

_made = SecurityGroupRule.__init__
_GROUP, _PREFIX_LIST = 6, 7  # where moto hands them over


def _make(rule: SecurityGroupRule, *args: Any, **kwargs: Any) -> None:
    """Keep the description of a rule for a group or a prefix list, where moto looks for it."""
    _made(rule, *args, **kwargs)
    for target in args[_GROUP : _PREFIX_LIST + 1]:
        if target and "Description" in target:
            rule.ip_range = {"Description": target["Description"]}


SecurityGroupRule.__init__ = _make  # type: ignore[assignment, method-assign]  # as moto makes them
