"""Tags of clusters and VPC connections."""

from __future__ import annotations

from functools import partial

from localcloud.door.operations import Call, operation
from localcloud.door.tags import answer_tags
from localcloud.services.kafka.model import not_found, own_state


def _find_tags(call: Call) -> dict[str, str]:
    arn, kafka = call.params["ResourceArn"], own_state(call)
    resource = kafka.clusters.get(arn) or kafka.vpc_connections.get(arn)
    if resource is None:
        raise not_found(arn)
    return resource.tags


answer_tags(partial(operation, "kafka"), _find_tags, "Tags", "TagKeys")
