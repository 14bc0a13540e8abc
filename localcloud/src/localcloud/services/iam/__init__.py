"""IAM is moto's; here are the quotas of policies that moto lacks, and what keeps a policy."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Policies, Service
from localcloud.services.iam.iam_resources import list_resources

SERVICE = Service(
    "iam",
    endpoint=None,
    throttle=ErrorCode("Throttling", 400),
    resources=list_resources,
    operations=("policy_deletes", "policy_quotas"),
    policies=Policies(
        "MalformedPolicyDocument",
        'Invalid principal in policy: "AWS":"{}"',
        {
            "CreateRole": ("AssumeRolePolicyDocument",),
            "UpdateAssumeRolePolicy": ("PolicyDocument",),
        },
    ),
    one_at_a_time=True,
    moto=Moto(
        keeps=(
            "AddRoleToInstanceProfile AddUserToGroup CreateAccessKey CreateAccountAlias "
            "CreateGroup CreateInstanceProfile CreateServiceLinkedRole CreateUser "
            "PutRolePermissionsBoundary SetDefaultPolicyVersion TagInstanceProfile TagPolicy "
            "TagRole TagUser UpdateAccessKey UpdateGroup UpdateRole UpdateRoleDescription "
            "UpdateUser"
        ),
        ignores=(
            "AttachGroupPolicy AttachUserPolicy CreateLoginProfile PutGroupPolicy PutUserPolicy "
            "UpdateAccountPasswordPolicy UpdateLoginProfile"
        ),
    ),
)
