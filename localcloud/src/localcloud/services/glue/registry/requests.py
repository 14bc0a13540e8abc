"""The request of a call: checked parameters, the named resources, pages of lists."""

from __future__ import annotations

from functools import partial
from typing import Any

from localcloud.door.constraints import locked_operation
from localcloud.door.operations import Call
from localcloud.door.pages import Pages
from localcloud.services.glue.registry.errors import INVALID, invalid, not_found
from localcloud.services.glue.registry.state import (
    DEFAULT_REGISTRY,
    GlueRegistries,
    Registry,
    Schema,
)
from localcloud.services.glue.registry.store import Version

_PAGES = Pages("NextToken", "MaxResults", 25, INVALID, "{name} {token!r} is unknown.")
registry_operation = partial(locked_operation, "glue", INVALID, GlueRegistries)


def arn_of(call: Call, end: str) -> str:
    """Return the ARN of a registry or schema of the caller."""
    return f"arn:aws:glue:{call.region}:{call.account}:{end}"


def find_registry(call: Call, registries: GlueRegistries) -> Registry:
    """Return the registry that RegistryId names, by name or ARN."""
    wanted = call.params.get("RegistryId", {})
    if len(wanted) != 1:
        raise invalid("RegistryId needs one of RegistryName and RegistryArn.")
    for registry in registries.registries.values():
        if wanted in ({"RegistryName": registry.name}, {"RegistryArn": registry.arn}):
            return registry
    raise not_found("Registry")


def find_schema(call: Call, registries: GlueRegistries) -> Schema:
    """Return the schema that SchemaId names, by ARN or by its name and its registry's."""
    wanted = call.params["SchemaId"]
    if ("SchemaArn" in wanted) == ("SchemaName" in wanted):
        raise invalid("SchemaId needs either SchemaArn or SchemaName.")
    registry = wanted.get("RegistryName", DEFAULT_REGISTRY)
    arn = wanted.get("SchemaArn") or arn_of(call, f"schema/{registry}/{wanted['SchemaName']}")
    if arn not in registries.schemas:
        raise not_found("Schema")
    return registries.schemas[arn]


def find_version(call: Call, registries: GlueRegistries) -> Version:
    """Return the version that SchemaVersionId names, or SchemaId and SchemaVersionNumber."""
    if ("SchemaVersionId" in call.params) == ("SchemaId" in call.params):
        raise invalid("One of SchemaVersionId and SchemaId is needed.")
    if "SchemaVersionId" in call.params:
        return registries.store.read(call.params["SchemaVersionId"])
    return read_number(call, registries, "SchemaVersionNumber")


def read_number(call: Call, registries: GlueRegistries, parameter: str) -> Version:
    """Return the version of the schema that a parameter names by number, or as the latest."""
    schema, wanted = find_schema(call, registries), call.params.get(parameter, {})
    if bool(wanted.get("LatestVersion")) == ("VersionNumber" in wanted):
        raise invalid(f"{parameter} needs either LatestVersion or VersionNumber.")
    if "VersionNumber" in wanted:
        return registries.store.read_number(schema.arn, wanted["VersionNumber"])
    return registries.store.read_newest(schema.arn)


def page(call: Call, member: str, shown: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the part of a list that MaxResults and NextToken request."""
    part, more = _PAGES.cut(call, shown)
    return {member: part, **more}
