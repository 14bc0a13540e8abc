"""Metadata of schema versions: key-value pairs."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.glue.registry.requests import find_version, page, registry_operation
from localcloud.services.glue.registry.state import GlueRegistries, show_time
from localcloud.services.glue.registry.store import Version


@registry_operation("PutSchemaVersionMetadata")
def put_schema_version_metadata(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Add a pair to a version; a key may have several values."""
    version, pair = find_version(call, registries), call.params["MetadataKeyValue"]
    if not registries.store.put_metadata(version.id, pair["MetadataKey"], pair["MetadataValue"]):
        raise AwsError(
            "AlreadyExistsException",
            "Resource already exist for schema version id: "
            f"{version.id}, metadata key: {pair['MetadataKey']}",
        )
    return _show(call, registries, version)


@registry_operation("RemoveSchemaVersionMetadata")
def remove_schema_version_metadata(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """Remove a pair from a version."""
    version, pair = find_version(call, registries), call.params["MetadataKeyValue"]
    if not registries.store.remove_metadata(version.id, pair["MetadataKey"], pair["MetadataValue"]):
        raise AwsError("EntityNotFoundException", "Metadata is not found.")
    return _show(call, registries, version)


@registry_operation("QuerySchemaVersionMetadata")
def query_schema_version_metadata(call: Call, registries: GlueRegistries) -> dict[str, Any]:
    """List the pairs of a version by key: all, or those that match an entry of MetadataList."""
    version = find_version(call, registries)
    filters = call.params.get("MetadataList", [])
    found: dict[str, list[dict[str, str]]] = {}
    for (key, value), since in registries.store.metadata(version.id).items():
        if not filters or any(_matches(each, key, value) for each in filters):
            entry = {"MetadataValue": value, "CreatedTime": show_time(since)}
            found.setdefault(key, []).append(entry)
    answer = page(call, "keys", [{"key": key} for key in sorted(found)])
    keys = [each["key"] for each in answer.pop("keys")]
    shown = {key: _show_values(found[key]) for key in keys}
    return {"MetadataInfoMap": shown, "SchemaVersionId": version.id, **answer}


def _matches(wanted: dict[str, str], key: str, value: str) -> bool:
    return wanted.get("MetadataKey", key) == key and wanted.get("MetadataValue", value) == value


def _show_values(values: list[dict[str, str]]) -> dict[str, Any]:
    """Return the newest value of a key as its value and the older ones as others."""
    *others, newest = values
    return {**newest, **({"OtherMetadataValueList": others} if others else {})}


def _show(call: Call, registries: GlueRegistries, version: Version) -> dict[str, Any]:
    schema = registries.schemas[version.subject]
    return {
        "SchemaArn": schema.arn,
        "SchemaName": schema.name,
        "RegistryName": schema.registry.name,
        "LatestVersion": version == registries.store.read_newest(schema.arn),
        "VersionNumber": version.number,
        "SchemaVersionId": version.id,
        **call.params["MetadataKeyValue"],
    }
