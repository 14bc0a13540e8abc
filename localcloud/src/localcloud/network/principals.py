"""The accounts that an endpoint service accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}):(root|role/.+|user/.+)")


def allows_account(owner: str, principals: Iterable[str], account: str) -> bool:
    """Return whether an endpoint service of `owner` lets an account connect.

    A role or user among the principals stands for its whole account.
    """
    if account == owner:
        return True
    return any(item == "*" or account_of(item) == account for item in principals)


def account_of(principal: str) -> str | None:
    """Return the account of an IAM principal's ARN, None for any other text."""
    found = _PRINCIPAL.fullmatch(principal)
    return found[1] if found else None
