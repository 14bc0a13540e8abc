"""EventBridge schema registries, which moto lacks.

Lambda's console keeps shareable test events there: it reads the schema `_FUNCTION-schema` of the
registry `lambda-testevent-schemas`, where each entry of `components.examples` is a test event.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.tags import answer_tags

_SERVICE = "schemas"


@dataclass(slots=True)
class _Version:
    number: int
    content: str
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(slots=True)
class _Schema:
    arn: str
    name: str
    kind: str
    description: str
    tags: dict[str, str]
    versions: list[_Version]

    def describe(self) -> dict[str, Any]:
        """Describe the newest version, all but its content."""
        newest = self.versions[-1]
        return {
            "Description": self.description,
            "LastModified": newest.created,
            "SchemaArn": self.arn,
            "SchemaName": self.name,
            "SchemaVersion": str(newest.number),
            "Tags": self.tags,
            "Type": self.kind,
            "VersionCreatedDate": newest.created,
        }


@dataclass(slots=True)
class _Registry:
    arn: str
    name: str
    description: str
    tags: dict[str, str]
    schemas: dict[str, _Schema] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        return {
            "Description": self.description,
            "RegistryArn": self.arn,
            "RegistryName": self.name,
            "Tags": self.tags,
        }


class Registries:
    """The registries of an account and region, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, _Registry] = {}


@operation(_SERVICE, "CreateRegistry")
def create_registry(call: Call) -> dict[str, Any]:
    """Create a registry; a name is used once."""
    name, registries = call.params["RegistryName"], _registries(call)
    if name in registries:
        raise AwsError("ConflictException", f"Registry with name {name} already exists.")
    registries[name] = _Registry(
        _arn(call, f"registry/{name}"),
        name,
        call.params.get("Description", ""),
        dict(call.params.get("Tags", {})),
    )
    return registries[name].describe()


@operation(_SERVICE, "DescribeRegistry")
def describe_registry(call: Call) -> dict[str, Any]:
    """Describe a registry."""
    return _registry(call).describe()


@operation(_SERVICE, "DeleteRegistry")
def delete_registry(call: Call) -> dict[str, Any]:
    """Delete an empty registry."""
    registry = _registry(call)
    if registry.schemas:
        raise AwsError("BadRequestException", f"Registry {registry.name} contains schemas.")
    del _registries(call)[registry.name]
    return {}


@operation(_SERVICE, "ListSchemas")
def list_schemas(call: Call) -> dict[str, Any]:
    """List the schemas of a registry."""
    return {
        "Schemas": [
            {
                "LastModified": schema.versions[-1].created,
                "SchemaArn": schema.arn,
                "SchemaName": schema.name,
                "Tags": schema.tags,
                "VersionCount": len(schema.versions),
            }
            for schema in _registry(call).schemas.values()
        ]
    }


@operation(_SERVICE, "CreateSchema")
def create_schema(call: Call) -> dict[str, Any]:
    """Create a schema with its first version."""
    registry, name = _registry(call), call.params["SchemaName"]
    if name in registry.schemas:
        raise AwsError("ConflictException", f"Schema with name {name} already exists.", status=409)
    registry.schemas[name] = _Schema(
        _arn(call, f"schema/{registry.name}/{name}"),
        name,
        call.params["Type"],
        call.params.get("Description", ""),
        dict(call.params.get("Tags", {})),
        [_Version(1, _content(call))],
    )
    return registry.schemas[name].describe()


@operation(_SERVICE, "DescribeSchema")
def describe_schema(call: Call) -> dict[str, Any]:
    """Describe a schema with the content of its newest version."""
    schema = _schema(call)
    return schema.describe() | {"Content": schema.versions[-1].content}


@operation(_SERVICE, "UpdateSchema")
def update_schema(call: Call) -> dict[str, Any]:
    """Change a description, or add a version."""
    schema = _schema(call)
    schema.description = call.params.get("Description", schema.description)
    schema.kind = call.params.get("Type", schema.kind)
    if "Content" in call.params:
        schema.versions.append(_Version(schema.versions[-1].number + 1, _content(call)))
    return schema.describe()


@operation(_SERVICE, "DeleteSchema")
def delete_schema(call: Call) -> dict[str, Any]:
    """Delete a schema with its versions."""
    schema = _schema(call)
    del _registry(call).schemas[schema.name]
    return {}


def _content(call: Call) -> str:
    content = str(call.params["Content"])
    try:
        json.loads(content)
    except ValueError as error:
        raise AwsError("BadRequestException", f"Schema content is not JSON: {error}") from error
    return content


def _registry(call: Call) -> _Registry:
    name = call.params["RegistryName"]
    registry = _registries(call).get(name)
    if registry is None:
        raise AwsError("NotFoundException", f"Registry with name {name} does not exist.")
    return registry


def _schema(call: Call) -> _Schema:
    name = call.params["SchemaName"]
    schema = _registry(call).schemas.get(name)
    if schema is None:
        raise AwsError("NotFoundException", f"Schema with name {name} does not exist.")
    return schema


def _tags(call: Call) -> dict[str, str]:
    arn = call.params["ResourceArn"]
    for registry in _registries(call).values():
        if registry.arn == arn:
            return registry.tags
        for schema in registry.schemas.values():
            if schema.arn == arn:
                return schema.tags
    raise AwsError("NotFoundException", f"Resource {arn} does not exist.")


def _registries(call: Call) -> dict[str, _Registry]:
    return call.cloud.state(Registries, call.account, call.region).by_name


def _arn(call: Call, end: str) -> str:
    return f"arn:aws:schemas:{call.region}:{call.account}:{end}"


answer_tags(partial(operation, _SERVICE), _tags, "Tags", "TagKeys")
