"""Tags of registries and schemas; those of other Glue resources are moto's."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.glue.registry.errors import not_found
from localcloud.services.glue.registry.state import Described, GlueRegistries


@operation("glue", "TagResource")
def tag_resource(call: Call) -> dict[str, Any] | HttpAnswer:
    """Set tags."""
    if not _is_ours(call):
        return call.forward()
    _find_tagged(call).tags.update(call.params["TagsToAdd"])
    return {}


@operation("glue", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any] | HttpAnswer:
    """Remove tags."""
    if not _is_ours(call):
        return call.forward()
    tags = _find_tagged(call).tags
    for key in call.params["TagsToRemove"]:
        tags.pop(key, None)
    return {}


@operation("glue", "GetTags")
def get_tags(call: Call) -> dict[str, Any] | HttpAnswer:
    """List the tags."""
    return {"Tags": _find_tagged(call).tags} if _is_ours(call) else call.forward()


def _is_ours(call: Call) -> bool:
    arn: str = call.params["ResourceArn"]
    return arn.rsplit(":", maxsplit=1)[-1].startswith(("registry/", "schema/"))


def _find_tagged(call: Call) -> Described:
    registries = call.cloud.state(GlueRegistries, call.account, call.region)
    everything = [*registries.registries.values(), *registries.schemas.values()]
    found = next((each for each in everything if each.arn == call.params["ResourceArn"]), None)
    if found is None:
        raise not_found("Resource")
    return found
