"""Schema registries behind one interface: Glue, one in memory, and a cache over any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.registry.cache import CachedRegistry, CacheLimits
from penstock.registry.interface import (
    Registration,
    SchemaRegistry,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
)
from penstock.registry.load import load_registry
from penstock.registry.memory import MemoryRegistry
from penstock.registry.registries import Registries, load_registries
from penstock.registry.rules import ComparedWith, check_rule
from penstock.registry.store import SchemaStore
from penstock.registry.version_json import read_version, write_version

if TYPE_CHECKING:
    from penstock.registry.glue import GlueRegistry, GlueSettings

__all__ = [
    "CacheLimits",
    "CachedRegistry",
    "ComparedWith",
    "GlueRegistry",
    "GlueSettings",
    "MemoryRegistry",
    "Registration",
    "Registries",
    "SchemaRegistry",
    "SchemaStore",
    "SchemaVersion",
    "StoredVersion",
    "VersionStatus",
    "check_rule",
    "load_registries",
    "load_registry",
    "read_version",
    "write_version",
]


def __getattr__(name: str) -> Any:
    """Import the names that need botocore on first use."""
    if name in {"GlueRegistry", "GlueSettings"}:
        from penstock.registry import glue  # noqa: PLC0415

        return getattr(glue, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
