"""Roles that look at a consumer's account, with names that the registry's reader role trusts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from localcloud.identity.credentials import credentials_for_role
from localcloud.testing.policies import allow, document, trust
from tests.e2e.accounts import CONSUMER, Accounts

_TRUSTED = "penstock-analytics-client-"


@dataclass(frozen=True)
class Reader:
    """A role of the consumer's account, with Lake Formation's grants on all tables of the lake."""

    accounts: Accounts
    client: Callable[..., Any]
    name: str

    @property
    def keys(self) -> dict[str, str]:
        """Return its keys, by the names of AWS's files."""
        key = credentials_for_role(self.accounts.cloud, self._arn, "reader")
        return {
            "aws_access_key_id": key.access_key,
            "aws_secret_access_key": key.secret_key,
            "aws_session_token": key.session_token,
        }

    @property
    def environ(self) -> dict[str, str]:
        """Return its keys as environment variables, and the endpoint of localcloud."""
        keys = {name.upper(): value for name, value in self.keys.items()}
        return {**keys, "AWS_ENDPOINT_URL": self.accounts.cloud.endpoint}

    def allow(self, policy: str, actions: Sequence[str], resource: str = "*") -> None:
        """Allow actions on a resource or on all of them."""
        self.client("iam", CONSUMER).put_role_policy(
            RoleName=self.name,
            PolicyName=policy,
            PolicyDocument=document(allow(list(actions), resource)),
        )

    @property
    def _arn(self) -> str:
        return f"arn:aws:iam::{CONSUMER}:role/{self.name}"

    def _grant(self) -> None:
        analytics = self.accounts.consumers["analytics"]
        lake, database = analytics.client("lakeformation"), analytics.outputs()["lake"]["database"]
        for resource, permissions in (
            ({"Database": {"Name": database}}, ["DESCRIBE"]),
            ({"Table": {"DatabaseName": database, "TableWildcard": {}}}, ["DESCRIBE", "SELECT"]),
        ):
            who = {"DataLakePrincipalIdentifier": self._arn}
            lake.grant_permissions(Principal=who, Resource=resource, Permissions=permissions)


@contextmanager
def make_reader(
    accounts: Accounts, client: Callable[..., Any], name: str, actions: Sequence[str]
) -> Iterator[Reader]:
    """Create a role that may call these actions, and delete it at last."""
    iam, made = client("iam", CONSUMER), Reader(accounts, client, f"{_TRUSTED}{name}")
    iam.create_role(RoleName=made.name, AssumeRolePolicyDocument=trust(CONSUMER))
    made.allow("read", actions)
    made._grant()
    yield made
    for policy in iam.list_role_policies(RoleName=made.name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=made.name, PolicyName=policy)
    iam.delete_role(RoleName=made.name)
