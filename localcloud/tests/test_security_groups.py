"""Rules of security groups keep their descriptions, whatever they are for."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

OTHER_SIDES = {
    "addresses": lambda group, prefixes: {"IpRanges": [{"CidrIp": "10.8.0.0/24"}]},
    "a group": lambda group, prefixes: {"UserIdGroupPairs": [{"GroupId": group}]},
    "a prefix list": lambda group, prefixes: {"PrefixListIds": [{"PrefixListId": prefixes}]},
}


@pytest.fixture(scope="module")
def ec2(client):
    return client("ec2")


@pytest.fixture(scope="module")
def vpc(ec2):
    return ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]


@pytest.mark.parametrize("kind", OTHER_SIDES)
def test_a_rule_keeps_its_description(ec2, vpc, kind):
    group = ec2.create_security_group(GroupName=kind, Description="d", VpcId=vpc)["GroupId"]
    prefixes = ec2.describe_managed_prefix_lists()["PrefixLists"][0]["PrefixListId"]
    (name, (side,)), *_ = OTHER_SIDES[kind](group, prefixes).items()
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}

    ec2.authorize_security_group_ingress(
        GroupId=group, IpPermissions=[permission | {name: [side | {"Description": "why"}]}]
    )

    own = [{"Name": "group-id", "Values": [group]}]
    rules = ec2.describe_security_group_rules(Filters=own)["SecurityGroupRules"]
    (rule,) = [it for it in rules if not it["IsEgress"]]
    assert rule["Description"] == "why"


def test_a_rule_that_is_changed_names_the_other_group(ec2, vpc):
    groups = [
        ec2.create_security_group(GroupName=name, Description="d", VpcId=vpc)["GroupId"]
        for name in ("held", "before", "after")
    ]
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    held, before, after = groups
    ec2.authorize_security_group_ingress(
        GroupId=held, IpPermissions=[permission | {"UserIdGroupPairs": [{"GroupId": before}]}]
    )
    own = [{"Name": "group-id", "Values": [held]}]

    def ingress():
        rules = ec2.describe_security_group_rules(Filters=own)["SecurityGroupRules"]
        return next(it for it in rules if not it["IsEgress"])

    changed = permission | {"ReferencedGroupId": after}
    rule = {"SecurityGroupRuleId": ingress()["SecurityGroupRuleId"], "SecurityGroupRule": changed}
    ec2.modify_security_group_rules(GroupId=held, SecurityGroupRules=[rule])

    assert ingress()["ReferencedGroupInfo"]["GroupId"] == after


def test_a_rule_that_is_gone_has_the_code_by_which_terraform_goes_on(ec2, vpc):
    group = ec2.create_security_group(GroupName="gone", Description="d", VpcId=vpc)["GroupId"]
    own = [{"Name": "group-id", "Values": [group]}]
    (rule,) = ec2.describe_security_group_rules(Filters=own)["SecurityGroupRules"]
    named = {"GroupId": group, "SecurityGroupRuleIds": [rule["SecurityGroupRuleId"]]}
    ec2.revoke_security_group_egress(**named)

    for revoke in (ec2.revoke_security_group_egress, ec2.revoke_security_group_ingress):
        with pytest.raises(ClientError, match=r"InvalidSecurityGroupRuleId\.NotFound"):
            revoke(**named)


def test_a_name_that_looks_like_an_id_is_refused(ec2, vpc):
    with pytest.raises(ClientError, match=r"Group names may not be in the format sg-\*"):
        ec2.create_security_group(GroupName="sg-kafka", Description="d", VpcId=vpc)
