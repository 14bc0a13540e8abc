"""Tags of connectors, custom plugins and worker configurations."""

from __future__ import annotations

from localcloud.door.operations import Call
from localcloud.door.tags import answer_tags
from localcloud.services.kafkaconnect.model import KafkaConnect, connect_operation, find


def _find_tags(call: Call, state: KafkaConnect) -> dict[str, str]:
    arn = call.params["resourceArn"]
    if arn in state.plugins:
        return state.plugins[arn].tags
    if arn in state.configurations:
        return state.configurations[arn].tags
    return find(state.connectors, arn).tags


answer_tags(connect_operation, _find_tags, "tags", "tagKeys")
