"""The tags of applications and job runs."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call
from localcloud.services.emr_serverless.model import (
    Applications,
    application_operation,
    find_application,
    find_run,
)


@application_operation("ListTagsForResource")
def list_tags_for_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """List the tags."""
    return {"tags": _find_tags(call, applications)}


@application_operation("TagResource")
def tag_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """Set tags."""
    _find_tags(call, applications).update(call.params["tags"])
    return {}


@application_operation("UntagResource")
def untag_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """Remove tags."""
    tags = _find_tags(call, applications)
    for key in call.params["tagKeys"]:
        tags.pop(key, None)
    return {}


def _find_tags(call: Call, applications: Applications) -> dict[str, str]:
    application = find_application(call, applications)
    run_id = call.params["resourceArn"].partition("/jobruns/")[2]
    return find_run(application, run_id).tags if run_id else application.tags
