"""Athena: moto keeps work groups and saved queries, and queries run here."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.services.athena.iam_resources import list_resources

SERVICE = Service(
    "athena",
    endpoint="athena",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    operations=("executions", "results", "tags", "work_groups"),
    status=("queries",),
    moto=Moto(
        keeps="CreateNamedQuery CreateWorkGroup TagResource",
    ),
    ignored={
        "GetQueryResults": "QueryResultType",
        "StartQueryExecution": "EngineConfiguration ResultReuseConfiguration",
    },
)
