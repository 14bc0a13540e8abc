"""Application Auto Scaling is moto's, which loses the tags of scalable targets."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, LinkedRole, Moto, Service
from localcloud.services.autoscaling.iam_resources import list_resources

SERVICE = Service(
    "application-autoscaling",
    endpoint="application-autoscaling",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("targets",),
    linked_roles={
        "RegisterScalableTarget": LinkedRole(
            "kafka.application-autoscaling.amazonaws.com",
            "AWSServiceRoleForApplicationAutoScaling_KafkaCluster",
        )
    },
    moto=Moto(
        ignores="PutScalingPolicy",
    ),
)
