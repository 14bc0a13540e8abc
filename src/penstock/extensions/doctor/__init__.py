"""The first causes of a broken path between a producer's brokers and a consumer's tables.

Each hop of the path is a function of `hops`, which only reads. `examine` runs them in order and
separates first causes from symptoms.
"""

from __future__ import annotations

from penstock.extensions.doctor.accounts import Accounts, World
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Finding, Side, State
from penstock.extensions.doctor.installed import list_hops
from penstock.extensions.doctor.operation import Report, examine
from penstock.extensions.doctor.program import examine_program
from penstock.extensions.doctor.text import describe_causes

__all__ = [
    "Accounts",
    "Deployment",
    "Finding",
    "Report",
    "Side",
    "State",
    "World",
    "describe_causes",
    "examine",
    "examine_program",
    "list_hops",
]
