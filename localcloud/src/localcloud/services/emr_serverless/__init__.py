"""EMR Serverless: applications whose job runs run here."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, LinkedRole, Service
from localcloud.identity.access import Access, arn_of, role_in


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the application or the job run of a call."""
    application, run = call.params.get("applicationId"), call.params.get("jobRunId")
    arn = call.params.get("resourceArn")
    if application:
        arn = arn_of(call, f"/applications/{application}" + (f"/jobruns/{run}" if run else ""))
    yield Access(action, arn)


SERVICE = Service(
    "emr-serverless",
    endpoint="emr-serverless",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("applications", "job_runs", "tags"),
    passed_roles=role_in(("executionRoleArn",), "emr-serverless.amazonaws.com", "StartJobRun"),
    linked_roles={
        "CreateApplication": LinkedRole(
            "ops.emr-serverless.amazonaws.com", "AWSServiceRoleForAmazonEMRServerless"
        )
    },
    contents={"StartJobRun": ("configurationOverrides", "jobDriver")},
    status=("job runs",),
    ignored={
        "CreateApplication": (
            "diskEncryptionConfiguration identityCenterConfiguration imageConfiguration "
            "initialCapacity interactiveConfiguration jobLevelCostAllocationConfiguration "
            "schedulerConfiguration workerTypeSpecifications"
        ),
        "StartJobRun": "flexExecution",
        "UpdateApplication": (
            "diskEncryptionConfiguration identityCenterConfiguration imageConfiguration "
            "initialCapacity interactiveConfiguration jobLevelCostAllocationConfiguration "
            "schedulerConfiguration workerTypeSpecifications"
        ),
    },
)
