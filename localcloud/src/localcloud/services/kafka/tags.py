"""Tags of clusters and VPC connections."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call, operation
from localcloud.services.kafka.model import not_found, own_state


@operation("kafka", "TagResource")
def tag_resource(call: Call) -> dict[str, Any]:
    """Set tags."""
    _find_tags(call).update(call.params["Tags"])
    return {}


@operation("kafka", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any]:
    """Remove tags."""
    tags = _find_tags(call)
    for key in call.params["TagKeys"]:
        tags.pop(key, None)
    return {}


@operation("kafka", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List the tags."""
    return {"Tags": _find_tags(call)}


def _find_tags(call: Call) -> dict[str, str]:
    arn, kafka = call.params["ResourceArn"], own_state(call)
    resource = kafka.clusters.get(arn) or kafka.vpc_connections.get(arn)
    if resource is None:
        raise not_found(arn)
    return resource.tags
