"""Plans for all tests of a session, each made once."""

from __future__ import annotations

import pytest

from localcloud.quotas import CONCURRENT_EXECUTIONS, CONCURRENT_VCPUS, QuotaValues
from localcloud.testing.policies import trust
from tests.infra.plans import Case, Example, Planner

# Only who is of the consumer's account and knows the contract takes it.
_TRUST = trust(
    "arn:aws:iam::222222222222:root",
    Condition={"StringEquals": {"sts:ExternalId": "of-the-contract"}},
)


# Where Lake Formation decides on the Glue catalog.
_GOVERNED = "222222222222"

_SUBNETS = {"euc1-az1": "100.64.0.0/24", "euc1-az2": "100.64.1.0/24", "first": "10.3.0.0/24"}


@pytest.fixture(scope="session")
def planner(cloud, client, tmp_path_factory):
    """What plans, against a localcloud with the hand-over role that a consumer's root takes."""
    client("iam").create_role(RoleName="hand-over", AssumeRolePolicyDocument=_TRUST)
    admins = [{"DataLakePrincipalIdentifier": f"arn:aws:iam::{_GOVERNED}:role/deploy"}]
    client("lakeformation", account=_GOVERNED).put_data_lake_settings(
        DataLakeSettings={"DataLakeAdmins": admins}
    )
    for account in ("111111111111", _GOVERNED):
        _make_vpc(client("ec2", account=account))
    values = cloud.state(QuotaValues)  # the largest of the cases need more than a new account has
    values.set("222222222222", CONCURRENT_EXECUTIONS, 1_000)
    values.set("222222222222", CONCURRENT_VCPUS, 1_000)
    made = Planner(tmp_path_factory.mktemp("plans"), cloud.endpoint)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def plan_case(planner, request):
    """Plan a case, together with all other cases of the selected tests."""
    planner.start(_cases_of(request.session.items))
    return planner.plan


def _make_vpc(ec2):
    """Make the VPC of existing.hcl, of two ranges, with its subnets."""
    vpc = ec2.create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]
    ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock="100.64.0.0/16")
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    ids = {"existing": vpc}
    for name, cidr in _SUBNETS.items():
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr)["Subnet"]
        ids[name] = subnet["SubnetId"]
    for name, one in ids.items():
        ec2.create_tags(Resources=[one], Tags=[{"Key": "Name", "Value": name}])


def _cases_of(items):
    given = [item.callspec.params for item in items if hasattr(item, "callspec")]
    cases = [case for one in given for case in (one.get("case"), *one.get("cases", ()))]
    return [case for case in cases if isinstance(case, Case | Example)]
