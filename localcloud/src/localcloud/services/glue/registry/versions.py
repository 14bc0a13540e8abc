"""The operations on schema versions: register, read, compare, delete."""

from __future__ import annotations

import json
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.glue.registry.errors import invalid, not_found
from localcloud.services.glue.registry.formats import (
    check_comparable,
    check_definition,
    find_problem,
)
from localcloud.services.glue.registry.json_patch import list_changes
from localcloud.services.glue.registry.requests import (
    find_schema,
    find_version,
    page,
    read_number,
    registry_operation,
)
from localcloud.services.glue.registry.state import GlueRegistries, show_time
from localcloud.services.glue.registry.store import Version


@registry_operation("RegisterSchemaVersion")
def register_schema_version(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Register a version, or find the one with the same text; a refused one is stored too."""
    schema, definition = find_schema(call, registries), call.params["SchemaDefinition"]
    if registries.store.find(schema.arn, definition) is None:
        check_definition(definition, schema.data_format)
        check_comparable(schema.data_format, registries.store.rule(schema.arn)[0])
    version = registries.store.add(schema.arn, definition)
    return {
        "SchemaVersionId": version.id,
        "VersionNumber": version.number,
        "Status": version.status,
    }


@registry_operation("GetSchemaVersion")
def get_schema_version(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Return a version by its id, its number, or as the latest available one."""
    version = find_version(call, registries)
    return {
        **_show(version),
        "SchemaDefinition": version.definition,
        "DataFormat": version.data_format,
    }


@registry_operation("GetSchemaByDefinition")
def get_schema_by_definition(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Return the version with exactly this text, whatever its status."""
    schema = find_schema(call, registries)
    version = registries.store.find(schema.arn, call.params["SchemaDefinition"])
    if version is None:
        raise not_found("Schema version")
    shown = _show(version) | {"DataFormat": version.data_format}
    del shown["VersionNumber"]
    return shown


@registry_operation("ListSchemaVersions")
def list_schema_versions(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """List all versions of a schema, whatever their status, the oldest first."""
    schema = find_schema(call, registries)
    versions = registries.store.list_versions(schema.arn)
    return page(call, "Schemas", [_show(version) for version in versions])


@registry_operation("DeleteSchemaVersions")
def delete_schema_versions(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Delete one version (`3`) or a range (`3-5`), but neither the first nor the checkpoint."""
    schema = find_schema(call, registries)
    first, _, last = call.params["Versions"].partition("-")
    start, end = int(first), int(last or first)
    if start > end:
        raise invalid(f"Versions {start}-{end} is not a range: its end is before its start.")
    _check_deletable(start, end, registries.store.rule(schema.arn)[1])
    ids = {each.number: each.id for each in registries.store.list_versions(schema.arn)}
    missing = []
    for number in range(start, end + 1):
        if number in ids:
            registries.store.delete(ids[number])
        else:
            missing.append(number)
    return {"SchemaVersionErrors": [_show_missing(number) for number in missing]}


def _check_deletable(start: int, end: int, checkpoint: int) -> None:
    if start == 1:
        raise invalid("Version 1 can be deleted only with its schema.")
    if start <= checkpoint <= end:
        said = f"Version {checkpoint} is the checkpoint and cannot be deleted."
        raise AwsError("InvalidInputException", said, status=409)


def _show_missing(number: int) -> dict[str, Any]:
    code, said = "EntityNotFoundException", "Schema version is not found."
    return {"VersionNumber": number, "ErrorDetails": {"ErrorCode": code, "ErrorMessage": said}}


@registry_operation("CheckSchemaVersionValidity")
def check_schema_version_validity(call: Call, _registries: GlueRegistries) -> dict[str, Any]:
    """Return whether a definition is valid; it is not compared with others."""
    problem = find_problem(call.params["SchemaDefinition"], call.params["DataFormat"])
    return {"Valid": True} if problem is None else {"Valid": False, "Error": problem}


@registry_operation("GetSchemaVersionsDiff")
def get_schema_versions_diff(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Return the difference of two versions, as a JSON patch from the first to the second."""
    first = read_number(call, registries, "FirstSchemaVersionNumber")
    second = read_number(call, registries, "SecondSchemaVersionNumber")
    if first.data_format == "PROTOBUF":
        raise invalid("Definitions of PROTOBUF data format cannot be compared as JSON.")
    changes = list_changes(json.loads(first.definition), json.loads(second.definition))
    return {"Diff": json.dumps(list(changes))}


def _show(version: Version) -> dict[str, Any]:
    return {
        "SchemaArn": version.subject,
        "SchemaVersionId": version.id,
        "VersionNumber": version.number,
        "Status": version.status,
        "CreatedTime": show_time(version.registered_at),
    }
