"""How calls of Glue name their resources for IAM, and the roles of crawlers that they pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from localcloud.door.operations import Call
from localcloud.identity.access import Access, arn_of
from localcloud.identity.roles import full_role_arn


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield what a call of the schema registry, of crawlers or of the catalog is about."""
    params = call.params
    if "SchemaVersionId" in params:  # an id names no resource: only "*" allows reading by it
        yield Access(action, "*" if call.operation == "GetSchemaVersion" else None)
    elif "SchemaId" in params or "RegistryId" in params or call.operation == "CreateSchema":
        yield from (Access(action, arn) for arn in _registry_arns(call))
    elif "Crawler" in call.operation:
        # Not known: whether CreateCrawler has a resource (the assumption `crawler-permission`).
        named = "Name" in params and call.operation != "CreateCrawler"
        yield Access(action, arn_of(call, f"crawler/{params['Name']}") if named else "*")
    elif "DatabaseName" in params or (call.operation.endswith("Database") and "Name" in params):
        yield from (Access(action, arn_of(call, end)) for end in _catalog_ends(params))
    else:
        yield Access(action, None)


def list_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the role of a crawler, which may be given by its name."""
    if call.operation in {"CreateCrawler", "UpdateCrawler"} and call.params.get("Role"):
        yield full_role_arn(call.account, str(call.params["Role"])), "glue.amazonaws.com"


def _registry_arns(call: Call) -> Iterator[str]:
    schema, registry = call.params.get("SchemaId", {}), call.params.get("RegistryId", {})
    if arn := schema.get("SchemaArn"):
        name = arn.partition(":schema/")[2].partition("/")[0]
        yield from (arn.partition(":schema/")[0] + f":registry/{name}", arn)
        return
    name = registry.get("RegistryName") or schema.get("RegistryName") or "default-registry"
    yield arn_of(call, registry.get("RegistryArn", name), "registry/{}")
    name = registry.get("RegistryArn", name).rpartition("/")[2]
    if schema_name := schema.get("SchemaName") or call.params.get("SchemaName"):
        yield arn_of(call, f"{name}/{schema_name}", "schema/{}")


def _catalog_ends(params: dict[str, Any]) -> Iterator[str]:
    database = params.get("DatabaseName") or params.get("Name")
    yield from ("catalog", f"database/{database}")
    if "DatabaseName" in params:
        table = params.get("TableName") or params.get("Name")
        if table := table or params.get("TableInput", {}).get("Name"):
            yield f"table/{database}/{table}"
