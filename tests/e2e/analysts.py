"""Lake Formation in the consumer's account: who may query the lake, and somebody who may not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demo.accounts import REGION
from localcloud.identity.credentials import credentials_for_role
from localcloud.testing.policies import allow, document, keys_of, trust
from tests.e2e.accounts import CONSUMER, DEPLOYERS, DOCTORS, Accounts
from tests.e2e.sales import TOTALS

# Somebody who may assume the roles of analysts, and somebody with rights in IAM alone.
PERSON, STRANGER = (f"arn:aws:iam::{CONSUMER}:role/{name}" for name in ("person", "stranger"))
_LAKE = f"arn:aws:s3:::penstock-analytics-lake-{CONSUMER}-{REGION}"
_OF_THE_STRANGER = (
    allow(["athena:*", "glue:Get*", "lakeformation:GetDataAccess", "kms:*"]),
    allow(["s3:GetBucketLocation", "s3:PutObject"], [_LAKE, f"{_LAKE}/athena-results/*"]),
)
_EXTENSION = """
module "lake_formation" {{
  source     = "../extensions/lake_formation"
  platform   = local.platform
  principals = merge(module.emr_cluster.lake_principals, module.sales.lake_principals)
  analysts   = {analysts}
}}

output "analysts" {{
  value = module.lake_formation.analysts
}}
"""
_WHOLE: dict[str, Any] = {"whole": {"principals": [PERSON], "tables": None}}
# Jobs have made these tables by then.
_PARTS = {
    "readings": {"included_columns": ["temperature"], "rows": "temperature > 0"},
    TOTALS: {"excluded_columns": ["orders"], "rows": None},
}
_IN_PART = {"part": {"principals": [PERSON], "tables": _PARTS}}
# The calls of the extension, whose objects are JSON.
GRANTS = _EXTENSION.format(analysts=json.dumps(_WHOLE))
GRANTS_IN_PART = _EXTENSION.format(analysts=json.dumps(_WHOLE | _IN_PART))


def create_people(client: Callable[..., Any]) -> None:
    """Create the roles of both."""
    iam = client("iam", CONSUMER)
    for role, statements in ((PERSON, ()), (STRANGER, _OF_THE_STRANGER)):
        name = role.rpartition("/")[2]
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(CONSUMER))
        if statements:
            policy = document(*statements)
            iam.put_role_policy(RoleName=name, PolicyName="asks", PolicyDocument=policy)


def govern_catalog(client: Callable[..., Any]) -> None:
    """Let Lake Formation decide on the consumer's catalog; the deployer administers it."""
    client("lakeformation", CONSUMER).put_data_lake_settings(
        DataLakeSettings={
            "CreateDatabaseDefaultPermissions": [],
            "CreateTableDefaultPermissions": [],
            "DataLakeAdmins": [{"DataLakePrincipalIdentifier": DEPLOYERS["analytics"]}],
            "ReadOnlyAdmins": [{"DataLakePrincipalIdentifier": DOCTORS[CONSUMER]}],
        }
    )


@dataclass(frozen=True)
class Analyst:
    """A role that queries the lake, in place of the account."""

    accounts: Accounts
    keys: dict[str, str]
    where: str

    @classmethod
    def of_role(cls, accounts: Accounts, role: str) -> Analyst:
        """Take the keys of a role."""
        key = credentials_for_role(accounts.cloud, role, "probe")
        keys = {
            "aws_access_key_id": key.access_key,
            "aws_secret_access_key": key.secret_key,
            "aws_session_token": key.session_token,
        }
        return cls(accounts, keys, role)

    def assume(self, role: str) -> Analyst:
        """Assume a role as this one."""
        taken = self.client("sts").assume_role(RoleArn=role, RoleSessionName="query")
        return Analyst(self.accounts, keys_of(taken["Credentials"]), role)

    def client(self, service: str) -> Any:
        """Open a client of the account as this role."""
        return self.accounts.client(service, **self.keys)
