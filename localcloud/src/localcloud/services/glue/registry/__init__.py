"""The Glue Schema Registry: AWS's rules for schemas and versions, kept by a `SchemaStore`."""

from __future__ import annotations

from localcloud.services.glue.registry import (
    metadata,
    registries,
    schemas,
    settings,
    tags,
    versions,
)
from localcloud.services.glue.registry.state import GlueRegistries

__all__ = [
    "GlueRegistries",
    "metadata",
    "registries",
    "schemas",
    "settings",
    "tags",
    "versions",
]
