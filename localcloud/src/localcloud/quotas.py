"""Quotas of accounts: those that localcloud holds, with the values that a new account has.

| quota | who holds it |
| --- | --- |
| concurrent executions of Lambda | PutFunctionConcurrency, as far as reserves go |
| concurrent vCPUs of EMR Serverless | the start of a job run |
| VPCs, and interface endpoints of a VPC | CreateVpc and CreateVpcEndpoint |
| network interfaces of Lambda in a VPC | nobody: functions have none here |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota of Service Quotas: its codes and names, AWS's default, and a new account's value."""

    service: str
    code: str
    service_name: str
    name: str
    default: int
    new_account: int


# "Lambda quotas" in the Lambda Developer Guide; "Quotas" in the EMR Serverless User Guide; "Amazon
# VPC quotas" in the Amazon VPC User Guide.
CONCURRENT_EXECUTIONS = Quota(
    "lambda", "L-B99A9384", "AWS Lambda", "Concurrent executions", 1000, 10
)
CONCURRENT_VCPUS = Quota(
    "emr-serverless",
    "L-D05C8A75",
    "Amazon EMR Serverless",
    "Max concurrent vCPUs per account",
    16,
    16,
)
_VPC = "Amazon Virtual Private Cloud (Amazon VPC)"
VPCS = Quota("vpc", "L-F678F1CE", _VPC, "VPCs per Region", 5, 5)
INTERFACE_ENDPOINTS = Quota("vpc", "L-29B6F2EB", _VPC, "Interface VPC endpoints per VPC", 50, 50)
FUNCTION_INTERFACES = Quota(
    "lambda", "L-9FEE3D26", "AWS Lambda", "Elastic network interfaces per VPC", 250, 250
)
QUOTAS = (
    *(CONCURRENT_EXECUTIONS, CONCURRENT_VCPUS, VPCS, INTERFACE_ENDPOINTS),
    FUNCTION_INTERFACES,
)


class QuotaValues:
    """The values by account, in each of its regions, for those that differ from a new account's."""

    def __init__(self) -> None:
        self._changed: dict[tuple[str, Quota], int] = {}

    def of(self, account: str, quota: Quota) -> int:
        """Return the value of an account's quota."""
        return self._changed.get((account, quota), quota.new_account)

    def applied(self, account: str, quota: Quota) -> int | None:
        """Return the value that AWS has applied to an account; None where the default holds."""
        value = self.of(account, quota)
        changed = (account, quota) in self._changed
        return value if changed or value != quota.default else None

    def set(self, account: str, quota: Quota, value: int) -> None:
        """Set the value of an account's quota."""
        self._changed[account, quota] = value


@action("set-quota")
def set_quota(cloud: Cloud, *, account: str, quota: str, value: int) -> dict[str, Any]:
    """Set an account's quota, by its code, as AWS does when it grants an increase."""
    found = next((each for each in QUOTAS if each.code == quota), None)
    if found is None:
        known = ", ".join(f"{each.code} ({each.name})" for each in QUOTAS)
        raise LookupError(f"quota {quota} is unknown, expected one of {known}")
    cloud.state(QuotaValues).set(account, found, value)
    return {"account": account, "quota": quota, "value": value}
