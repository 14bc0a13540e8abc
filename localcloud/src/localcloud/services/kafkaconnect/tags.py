"""Tags of connectors, custom plugins and worker configurations."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call
from localcloud.services.kafkaconnect.model import KafkaConnect, connect_operation, find


@connect_operation("ListTagsForResource")
def list_tags_for_resource(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """List the tags."""
    return {"tags": _find_tags(call, state)}


@connect_operation("TagResource")
def tag_resource(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Set tags."""
    _find_tags(call, state).update(call.params["tags"])
    return {}


@connect_operation("UntagResource")
def untag_resource(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Remove tags."""
    tags = _find_tags(call, state)
    for key in call.params["tagKeys"]:
        tags.pop(key, None)
    return {}


def _find_tags(call: Call, state: KafkaConnect) -> dict[str, str]:
    arn = call.params["resourceArn"]
    if arn in state.plugins:
        return state.plugins[arn].tags
    if arn in state.configurations:
        return state.configurations[arn].tags
    return find(state.connectors, arn).tags
