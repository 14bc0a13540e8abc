"""Application Auto Scaling is moto's, which loses the tags of scalable targets."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, LinkedRole, Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "application-autoscaling",
    endpoint="application-autoscaling",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=by_action,
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
