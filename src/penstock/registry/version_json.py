"""The JSON form of schema versions, for files of this project."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.errors import SchemaError
from penstock.framing import SchemaKey
from penstock.registry.interface import SchemaVersion, VersionStatus
from penstock.schemas import canonical_form, load_schema


def write_version(version: SchemaVersion) -> dict[str, Any]:
    """Return a version as a JSON value."""
    time = version.registered_at
    return {
        "id": str(version.key),
        "name": version.name,
        "number": version.number,
        "status": version.status,
        "definition": canonical_form(version.schema),
        "registered_at": time and time.isoformat(),
    }


def read_version(content: Any) -> SchemaVersion:
    """Return the version that `write_version` wrote; its schema is checked again.

    Raises:
        ValueError: the content is not a version, or its schema cannot be used.
    """
    try:
        time = content["registered_at"]
        return SchemaVersion(
            SchemaKey.parse(content["id"]),
            content["name"],
            content["number"],
            VersionStatus(content["status"]),
            load_schema(content["definition"]),
            datetime.fromisoformat(time) if time else None,
        )
    except (KeyError, TypeError, AttributeError, SchemaError) as error:
        raise ValueError(f"it holds no version as written by us: {error!r}") from error
