"""Network load balancers where moto differs from AWS."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, LinkedRole, Moto, Service
from localcloud.services.elbv2.iam_resources import list_resources

SERVICE = Service(
    "elbv2",
    endpoint="elasticloadbalancing",
    throttle=ErrorCode("Throttling", 400),
    resources=list_resources,
    operations=("load_balancers",),
    signing_names=("elasticloadbalancing",),
    prefix="elasticloadbalancing",
    linked_roles={
        "CreateLoadBalancer": LinkedRole(
            "elasticloadbalancing.amazonaws.com", "AWSServiceRoleForElasticLoadBalancing"
        )
    },
    changes_network=True,
    moto=Moto(
        keeps=(
            "AddTags CreateListener CreateTargetGroup ModifyListener ModifyTargetGroup "
            "RegisterTargets SetSubnets"
        ),
        ignores=(
            "ModifyListenerAttributes ModifyLoadBalancerAttributes ModifyTargetGroupAttributes"
        ),
    ),
    ignored={
        "CreateLoadBalancer": "CustomerOwnedIpv4Pool EnablePrefixForIpv6SourceNat IpamPools",
        "DescribeTargetHealth": "Include",
    },
)
