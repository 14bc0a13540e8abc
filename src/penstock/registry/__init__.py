"""Schema registries behind one interface: Glue, Confluent, Apicurio, memory; a cache over any."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.registry.admin import RegistryAdmin
from penstock.registry.backup import RegistryBackup, SchemaBackup, read_backup, write_backup
from penstock.registry.cache import CachedRegistry, CacheLimits
from penstock.registry.interface import (
    Registration,
    SchemaRegistry,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
)
from penstock.registry.load import has_content_ids, load_admin, load_registry
from penstock.registry.naming import OTHER_NAMING, SCHEMA_NAME
from penstock.registry.overlay import BackupRegistry
from penstock.registry.registries import Registries, load_registries
from penstock.registry.rules import ComparedWith, check_rule
from penstock.registry.settings import RegistrySettings, backups_setting, unframed_setting
from penstock.registry.store import SchemaStore
from penstock.registry.version_json import read_version, write_version

if TYPE_CHECKING:
    from penstock.registry.agreement import Agreement
    from penstock.registry.apicurio import ApicurioRegistry
    from penstock.registry.apicurio_admin import ApicurioAdmin
    from penstock.registry.backup_file import load_backup
    from penstock.registry.confluent import ConfluentRegistry
    from penstock.registry.glue import GlueRegistry, GlueSettings
    from penstock.registry.http_settings import HttpRegistrySettings
    from penstock.registry.trial import TrialRegistry

__all__ = [
    "OTHER_NAMING",
    "SCHEMA_NAME",
    "Agreement",
    "ApicurioAdmin",
    "ApicurioRegistry",
    "BackupRegistry",
    "CacheLimits",
    "CachedRegistry",
    "ComparedWith",
    "ConfluentRegistry",
    "GlueRegistry",
    "GlueSettings",
    "HttpRegistrySettings",
    "Registration",
    "Registries",
    "RegistryAdmin",
    "RegistryBackup",
    "RegistrySettings",
    "SchemaBackup",
    "SchemaRegistry",
    "SchemaStore",
    "SchemaVersion",
    "StoredVersion",
    "TrialRegistry",
    "VersionStatus",
    "backups_setting",
    "check_rule",
    "has_content_ids",
    "load_admin",
    "load_backup",
    "load_registries",
    "load_registry",
    "read_backup",
    "read_version",
    "unframed_setting",
    "write_backup",
    "write_version",
]

_IMPORTED_LATER = {
    "Agreement": "agreement",
    "ApicurioAdmin": "apicurio_admin",
    "ApicurioRegistry": "apicurio",
    "ConfluentRegistry": "confluent",
    "HttpRegistrySettings": "http_settings",
    "GlueRegistry": "glue",
    "GlueSettings": "glue",
    "TrialRegistry": "trial",
    "load_backup": "backup_file",
}


def __getattr__(name: str) -> Any:
    """Import the names that need botocore or urllib3 on first use."""
    if name in _IMPORTED_LATER:
        return getattr(import_module(f"penstock.registry.{_IMPORTED_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
