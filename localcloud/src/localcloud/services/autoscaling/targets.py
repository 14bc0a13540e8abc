"""Application Auto Scaling is moto's, which loses the tags of scalable targets."""

from __future__ import annotations

import json
from functools import partial

from moto.applicationautoscaling.models import applicationautoscaling_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.door.tags import answer_tags

_SERVICE = "application-autoscaling"


class TargetTags:
    """The tags of scalable targets by ARN."""

    def __init__(self) -> None:
        self.by_arn: dict[str, dict[str, str]] = {}


@operation(_SERVICE, "RegisterScalableTarget")
def register_scalable_target(call: Call) -> HttpAnswer:
    """Let moto register a target, and store the tags of a new one."""
    answer = call.forward()
    if answer.status == 200:
        arn = json.loads(answer.body)["ScalableTargetARN"]
        _tags(call).setdefault(arn, dict(call.params.get("Tags", {})))
    return answer


def _find_target(call: Call) -> dict[str, str]:
    arn, scaling = call.params["ResourceARN"], applicationautoscaling_backends
    dimensions = scaling[call.account][call.region].targets.values()
    if not any(target.arn == arn for targets in dimensions for target in list(targets.values())):
        raise AwsError(
            "ResourceNotFoundException",
            f"The resource {arn} is not a scalable target",
        )
    return _tags(call).setdefault(arn, {})


def _tags(call: Call) -> dict[str, dict[str, str]]:
    return call.cloud.state(TargetTags, call.account, call.region).by_arn


answer_tags(partial(operation, _SERVICE), _find_target, "Tags", "TagKeys")
