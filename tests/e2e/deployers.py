"""The roles that apply the roots and submit jobs, with the policies of docs/deploy-policies.

REWRITE=1 lets them do everything, and writes down what they did in place of comparing it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo.accounts import Local
from localcloud.testing.policies import allow, document, trust
from tests.e2e.accounts import DEPLOYERS, DOCTORS, OPERATOR, PRODUCER_DEPLOYER, WRITER
from tools.deploy_policies import FOLDER, SEEN, read_policies, read_unseen

_GRANTING = "lake-formation"
# What each role is held to; the account of one has Lake Formation.
ROLES = {
    PRODUCER_DEPLOYER: ("producer",),
    DEPLOYERS["analytics"]: ("consumer", _GRANTING),
    DEPLOYERS["billing"]: ("consumer",),
    OPERATOR: ("operator",),
    **dict.fromkeys(DOCTORS.values(), ("doctor",)),
}
WITHDRAWN = "schemas:UpdateSchema"  # to see an apply fail
REWRITING = os.environ.get("REWRITE") == "1"


def create_deployers(client: Callable[..., Any]) -> None:
    """Create the roles with their managed policies, and one that may write every topic."""
    for role, kinds in ROLES.items():
        published = [json.dumps(policy) for kind in kinds for policy in read_policies(kind)]
        _create_role(client, role, [document(allow("*"))] if REWRITING else published)
    _create_role(client, WRITER, [document(allow("kafka-cluster:*"))])


def write_seen(decisions: dict[str, set[str]]) -> None:
    """Write which actions each role has used."""
    seen = {
        kind: sorted(actions - read_unseen(kind)) for kind, actions in sorted(decisions.items())
    }
    Path(FOLDER, SEEN).write_text(json.dumps(seen, indent=2) + "\n")


def read_used(local: Local) -> dict[str, set[str]]:
    """Read which actions the roles have used, by their kind; only WITHDRAWN was refused."""
    used: dict[str, set[str]] = {}
    for role, (kind, *more) in ROLES.items():
        decisions = local.ask("list-decisions", role=role)
        refused = {one["action"] for one in decisions if not one["allowed"]}
        assert refused <= {WITHDRAWN}
        for action in (one["action"] for one in decisions):
            grants = _GRANTING in more and action.startswith("lakeformation:")
            used.setdefault(_GRANTING if grants else kind, set()).add(action)
    return used


def read_seen() -> dict[str, set[str]]:
    """Return the actions that were recorded, by kind of role."""
    seen = json.loads(Path(FOLDER, SEEN).read_text())
    return {kind: set(actions) for kind, actions in seen.items()}


@contextmanager
def withdraw(client: Callable[..., Any], role: str) -> Iterator[None]:
    """Take one action out of the policies of a role for a while."""
    account, name = role.split(":")[4], role.rpartition("/")[2]
    iam = client("iam", account)
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    arns = [policy["PolicyArn"] for policy in attached]
    for arn in arns:
        shown = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
        for statement in shown["Statement"]:
            statement["Action"] = [one for one in statement["Action"] if one != WITHDRAWN]
        iam.create_policy_version(
            PolicyArn=arn, PolicyDocument=json.dumps(shown), SetAsDefault=True
        )
    yield
    for arn in arns:
        iam.set_default_policy_version(PolicyArn=arn, VersionId="v1")


def _create_role(client: Callable[..., Any], role: str, documents: list[str]) -> None:
    account, name = role.split(":")[4], role.rpartition("/")[2]
    iam = client("iam", account)
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(account))
    for number, policy in enumerate(documents, start=1):
        made = iam.create_policy(PolicyName=f"{name}-{number}", PolicyDocument=policy)
        iam.attach_role_policy(RoleName=name, PolicyArn=made["Policy"]["Arn"])
