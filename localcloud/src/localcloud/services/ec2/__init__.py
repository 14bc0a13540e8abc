"""EC2 where moto differs from AWS: endpoint services, endpoints, groups, instances, VPCs."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import role_in
from localcloud.services.ec2.iam_resources import list_resources

SERVICE = Service(
    "ec2",
    endpoint="ec2",
    throttle=ErrorCode("RequestLimitExceeded", 503),
    resources=list_resources,
    operations=(
        "aws_services",
        "connection_notifications",
        "endpoint_services",
        "endpoints",
        "instances",
        "security_groups",
        "subnets",
        "vpcs",
    ),
    passed_roles=role_in(
        ("DeliverLogsPermissionArn",), "vpc-flow-logs.amazonaws.com", "CreateFlowLogs"
    ),
    changes_network=True,
    one_at_a_time=True,
)
