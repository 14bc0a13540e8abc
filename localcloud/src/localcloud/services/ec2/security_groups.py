"""Names of security groups that EC2 refuses and moto takes, and changes that moto leaves out."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation


@operation("ec2", "CreateSecurityGroup")
def create_security_group(call: Call) -> HttpAnswer:
    """Create a group, unless its name looks like an id (API Reference, CreateSecurityGroup)."""
    name = call.params["GroupName"]
    if name.startswith("sg-"):
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({name}) for parameter GroupName is invalid. Group names may not be in the "
            "format sg-*.",
        )
    return call.forward()


@operation("ec2", "ModifySecurityGroupRules")
def modify_security_group_rules(call: Call) -> HttpAnswer:
    """Change rules; moto keeps the group or the prefix list that a rule named before."""
    answer = call.forward()
    ec2 = ec2_backends[call.account][call.region]
    group: Any = ec2.get_security_group_from_id(call.params["GroupId"])
    for each in call.params["SecurityGroupRules"]:
        given, rule = each["SecurityGroupRule"], group.get_rule(each["SecurityGroupRuleId"])
        if "ReferencedGroupId" in given:
            rule.source_group["GroupId"] = given["ReferencedGroupId"]
        if "PrefixListId" in given:
            rule.prefix_list_id = given["PrefixListId"]
    return answer


@operation("ec2", "RevokeSecurityGroupIngress")
def revoke_security_group_ingress(call: Call) -> HttpAnswer:
    """Delete rules that let in."""
    _check_rules(call)
    return call.forward()


@operation("ec2", "RevokeSecurityGroupEgress")
def revoke_security_group_egress(call: Call) -> HttpAnswer:
    """Delete rules that let out."""
    _check_rules(call)
    return call.forward()


def _check_rules(call: Call) -> None:
    """Refuse ids of rules that are gone by the code of EC2, at which Terraform goes on."""
    ec2 = ec2_backends[call.account][call.region]
    group: Any = ec2.get_security_group_from_id(call.params.get("GroupId", ""))
    for each in call.params.get("SecurityGroupRuleIds", []) if group else ():
        if group.get_rule(each) is None:
            raise AwsError(
                "InvalidSecurityGroupRuleId.NotFound",
                f"The security group rule ID '{each}' does not exist",
            )
