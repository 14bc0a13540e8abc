"""The operations on registries."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.glue.registry.errors import quota_reached
from localcloud.services.glue.registry.requests import (
    arn_of,
    find_registry,
    page,
    registry_operation,
)
from localcloud.services.glue.registry.state import REGISTRY_QUOTA, GlueRegistries, Registry


@registry_operation("CreateRegistry")
def create_registry(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Create a registry."""
    name, tags = call.params["RegistryName"], call.params.get("Tags", {})
    if name in registries.registries:
        raise AwsError("AlreadyExistsException", f"Registry already exists. RegistryName: {name}")
    made = add_registry(call, registries, name)
    made.description = call.params.get("Description")
    made.tags.update(tags)
    return {**_name(made), "Description": made.description, "Tags": made.tags}


def add_registry(call: Call, registries: GlueRegistries, name: str) -> Registry:
    """Create a registry without description and tags."""
    if len(registries.registries) >= REGISTRY_QUOTA:
        said = f"The account has {REGISTRY_QUOTA} registries in this Region and takes no more."
        raise quota_reached(said)
    made = Registry(name, arn_of(call, f"registry/{name}"), None, {})
    registries.registries[name] = made
    return made


@registry_operation("GetRegistry")
def get_registry(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Describe a registry."""
    return _show(find_registry(call, registries))


@registry_operation("ListRegistries")
def list_registries(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """List the registries by name."""
    names = sorted(registries.registries)
    return page(call, "Registries", [_show(registries.registries[name]) for name in names])


@registry_operation("UpdateRegistry")
def update_registry(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Change the description."""
    registry = find_registry(call, registries)
    registry.describe_as(call.params["Description"])
    return _name(registry)


@registry_operation("DeleteRegistry")
def delete_registry(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Delete a registry with all its schemas; it is gone at once."""
    registry = find_registry(call, registries)
    for schema in registries.schemas_of(registry):
        registries.drop_schema(schema)
    del registries.registries[registry.name]
    return {**_name(registry), "Status": "DELETING"}


def _name(registry: Registry) -> dict[str, Any]:
    return {"RegistryName": registry.name, "RegistryArn": registry.arn}


def _show(registry: Registry) -> dict[str, Any]:
    return {
        **_name(registry),
        "Description": registry.description,
        "Status": "AVAILABLE",
        "CreatedTime": registry.created,
        "UpdatedTime": registry.updated,
    }
