"""A deployment for the doctor whose answers of AWS are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.extensions.doctor.accounts import Accounts, World
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side


class AnsweringWorld(World):
    """A world of given answers, by account and operation."""

    def __init__(self, deployment: Deployment, answers: Mapping[tuple[Side, str], Any]) -> None:
        super().__init__(deployment, Accounts({}))
        self._given = answers

    def ask(self, side: Side, service: str, operation: str, **words: Any) -> Any:
        """Return the given answer."""
        return self._given[side, operation]
