"""The operations on schemas: their names and compatibility modes."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.glue.registry.compatibility import Mode
from localcloud.services.glue.registry.errors import invalid
from localcloud.services.glue.registry.formats import check_definition
from localcloud.services.glue.registry.registries import add_registry
from localcloud.services.glue.registry.requests import (
    arn_of,
    find_registry,
    find_schema,
    page,
    read_number,
    registry_operation,
)
from localcloud.services.glue.registry.state import (
    DEFAULT_REGISTRY,
    GlueRegistries,
    Registry,
    Schema,
)
from localcloud.services.glue.registry.store import Status


@registry_operation("CreateSchema")
def create_schema(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Create a schema with its first version."""
    definition, data_format = call.params.get("SchemaDefinition"), call.params["DataFormat"]
    if definition is None:
        raise invalid("localcloud requires SchemaDefinition in CreateSchema.")
    check_definition(definition, data_format)
    registry, name = _registry_for(call, registries), call.params["SchemaName"]
    arn = arn_of(call, f"schema/{registry.name}/{name}")
    mode = Mode(call.params.get("Compatibility", Mode.BACKWARD))
    version = registries.store.create(arn, definition, mode, data_format)
    if version is None:
        raise AwsError("AlreadyExistsException", f"Schema already exists. SchemaArn: {arn}")
    description, tags = call.params.get("Description"), call.params.get("Tags", {})
    schema = Schema(name, arn, description, tags, registry=registry, data_format=data_format)
    registries.schemas[arn] = schema
    return {
        **_show_whole(schema, registries),
        "Tags": tags,
        "SchemaVersionId": version.id,
        "SchemaVersionStatus": version.status,
    }


def _registry_for(call: Call, registries: GlueRegistries) -> Registry:
    """Return the registry of a new schema; the default registry is created at its first use."""
    wanted = call.params.setdefault("RegistryId", {"RegistryName": DEFAULT_REGISTRY})
    is_default = wanted == {"RegistryName": DEFAULT_REGISTRY}
    if is_default and DEFAULT_REGISTRY not in registries.registries:
        return add_registry(call, registries, DEFAULT_REGISTRY)
    return find_registry(call, registries)


@registry_operation("GetSchema")
def get_schema(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Describe a schema."""
    schema = find_schema(call, registries)
    times = {"CreatedTime": schema.created, "UpdatedTime": schema.updated}
    return _show_whole(schema, registries) | times


@registry_operation("ListSchemas")
def list_schemas(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """List the schemas of a registry, or of all, by ARN."""
    found = list(registries.schemas.values())
    if "RegistryId" in call.params:
        found = registries.schemas_of(find_registry(call, registries))
    return page(call, "Schemas", [_show(each) for each in sorted(found, key=lambda each: each.arn)])


@registry_operation("UpdateSchema")
def update_schema(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Change the mode, the checkpoint or the description."""
    schema, mode = find_schema(call, registries), call.params.get("Compatibility")
    checkpoint = _read_checkpoint(call, registries)
    registries.store.update(schema.arn, mode=mode, checkpoint=checkpoint)
    schema.describe_as(call.params.get("Description"))
    return _name(schema)


def _read_checkpoint(call: Call, registries: GlueRegistries) -> int:
    if "SchemaVersionNumber" not in call.params:
        raise invalid("SchemaVersionNumber, the new checkpoint, is required.")
    version = read_number(call, registries, "SchemaVersionNumber")
    if version.status is not Status.AVAILABLE:
        raise invalid(f"Version {version.number} is {version.status} and cannot be a checkpoint.")
    return version.number


@registry_operation("DeleteSchema")
def delete_schema(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Delete a schema with all its versions; it is gone at once."""
    schema = find_schema(call, registries)
    registries.drop_schema(schema)
    return {"SchemaArn": schema.arn, "SchemaName": schema.name, "Status": "DELETING"}


def _name(schema: Schema) -> dict[str, Any]:
    return {
        "SchemaArn": schema.arn,
        "SchemaName": schema.name,
        "RegistryName": schema.registry.name,
    }


def _show(schema: Schema) -> dict[str, Any]:
    return {
        **_name(schema),
        "Description": schema.description,
        "SchemaStatus": "AVAILABLE",
        "CreatedTime": schema.created,
        "UpdatedTime": schema.updated,
    }


def _show_whole(schema: Schema, registries: GlueRegistries) -> dict[str, Any]:
    mode, checkpoint = registries.store.rule(schema.arn)
    latest = registries.store.read_newest(schema.arn).number
    return {
        **_name(schema),
        "RegistryArn": schema.registry.arn,
        "Description": schema.description,
        "DataFormat": schema.data_format,
        "Compatibility": mode,
        "SchemaCheckpoint": checkpoint,
        # As users observed it: a refused version uses a number, and neither of these changes.
        "LatestSchemaVersion": latest,
        "NextSchemaVersion": latest + 1,
        "SchemaStatus": "AVAILABLE",
    }
