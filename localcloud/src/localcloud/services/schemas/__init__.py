"""EventBridge schema registries, which moto lacks."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import Access, arn_of


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the schema or the registry of a call."""
    registry, schema = call.params.get("RegistryName"), call.params.get("SchemaName")
    arn = call.params.get("ResourceArn")
    if schema:
        arn = arn_of(call, f"schema/{registry}/{schema}")
    elif registry:
        arn = arn_of(call, f"registry/{registry}")
    yield Access(action, arn)


SERVICE = Service(
    "schemas",
    endpoint=None,
    throttle=ErrorCode("TooManyRequestsException", 429),
    resources=list_resources,
    operations=("registries",),
    ignored={
        "ListSchemas": "Limit NextToken SchemaNamePrefix",
        "UpdateSchema": "ClientTokenId",
    },
)
