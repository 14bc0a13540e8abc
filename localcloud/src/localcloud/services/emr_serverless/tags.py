"""The tags of applications and job runs."""

from __future__ import annotations

from localcloud.door.operations import Call
from localcloud.door.tags import answer_tags
from localcloud.services.emr_serverless.model import (
    Applications,
    application_operation,
    find_application,
    find_run,
)


def _find_tags(call: Call, applications: Applications) -> dict[str, str]:
    application = find_application(call, applications)
    run_id = call.params["resourceArn"].partition("/jobruns/")[2]
    return find_run(application, run_id).tags if run_id else application.tags


answer_tags(application_operation, _find_tags, "tags", "tagKeys")
