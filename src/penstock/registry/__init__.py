"""Schema registries behind one interface: Glue, Confluent, Apicurio, memory; a cache over any."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.registry.backup import (
    RegistryBackup,
    SchemaBackup,
    read_backup,
    write_backup,
)
from penstock.registry.cache import CachedRegistry, CacheLimits
from penstock.registry.comparison import Comparison, compare_readings, make_payloads
from penstock.registry.conversion import (
    ConvertedSchema,
    check_definitions,
    check_history,
    convert_schema,
)
from penstock.registry.interface import (
    Registration,
    SchemaRegistry,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
)
from penstock.registry.load import has_content_ids, load_admin, load_registry
from penstock.registry.memory import MemoryRegistry
from penstock.registry.overlay import BackupRegistry, OverlayRegistry
from penstock.registry.registries import Registries, load_registries
from penstock.registry.restore import (
    Action,
    RegistryAdmin,
    SchemaPlan,
    VersionPlan,
    plan_restore,
    restore_schema,
)
from penstock.registry.rules import ComparedWith, check_rule
from penstock.registry.settings import RegistrySettings, backups_setting, unframed_setting
from penstock.registry.store import SchemaStore
from penstock.registry.version_json import read_version, write_version

if TYPE_CHECKING:
    from penstock.registry.apicurio import ApicurioRegistry
    from penstock.registry.apicurio_admin import ApicurioAdmin
    from penstock.registry.backup_file import load_backup, save_backup
    from penstock.registry.confluent import ConfluentRegistry
    from penstock.registry.confluent_admin import ConfluentAdmin
    from penstock.registry.glue import GlueRegistry, GlueSettings
    from penstock.registry.glue_admin import GlueAdmin
    from penstock.registry.http_settings import HttpRegistrySettings

__all__ = [
    "Action",
    "ApicurioAdmin",
    "ApicurioRegistry",
    "BackupRegistry",
    "CacheLimits",
    "CachedRegistry",
    "ComparedWith",
    "Comparison",
    "ConfluentAdmin",
    "ConfluentRegistry",
    "ConvertedSchema",
    "GlueAdmin",
    "GlueRegistry",
    "GlueSettings",
    "HttpRegistrySettings",
    "MemoryRegistry",
    "OverlayRegistry",
    "Registration",
    "Registries",
    "RegistryAdmin",
    "RegistryBackup",
    "RegistrySettings",
    "SchemaBackup",
    "SchemaPlan",
    "SchemaRegistry",
    "SchemaStore",
    "SchemaVersion",
    "StoredVersion",
    "VersionPlan",
    "VersionStatus",
    "backups_setting",
    "check_definitions",
    "check_history",
    "check_rule",
    "compare_readings",
    "convert_schema",
    "has_content_ids",
    "load_admin",
    "load_backup",
    "load_registries",
    "load_registry",
    "make_payloads",
    "plan_restore",
    "read_backup",
    "read_version",
    "restore_schema",
    "save_backup",
    "unframed_setting",
    "write_backup",
    "write_version",
]

_IMPORTED_LATER = {
    "ApicurioAdmin": "apicurio_admin",
    "ApicurioRegistry": "apicurio",
    "ConfluentAdmin": "confluent_admin",
    "ConfluentRegistry": "confluent",
    "HttpRegistrySettings": "http_settings",
    "GlueAdmin": "glue_admin",
    "GlueRegistry": "glue",
    "GlueSettings": "glue",
    "load_backup": "backup_file",
    "save_backup": "backup_file",
}


def __getattr__(name: str) -> Any:
    """Import the names that need botocore or urllib3 on first use."""
    if name in _IMPORTED_LATER:
        return getattr(import_module(f"penstock.registry.{_IMPORTED_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
