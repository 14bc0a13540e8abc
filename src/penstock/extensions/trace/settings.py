"""Settings of a trace; what they do not name is not looked at."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.framing import SchemaKey
from penstock.registry import Registries, backups_setting, load_registries, unframed_setting
from penstock.settings import Settings, setting
from penstock.sinks import account_tables_setting


@dataclass(frozen=True, slots=True)
class TraceSettings(Settings):
    """The registries, and where events and records that failed are kept."""

    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URLs of the schema registries, separated by spaces",
        default="",
        secret=True,  # it may contain an external id
    )
    registry_backups: tuple[str, ...] = backups_setting()
    unframed: tuple[tuple[str, SchemaKey], ...] = unframed_setting()
    errors_table: str = setting(
        "PENSTOCK_ERRORS_TABLE", "dead-letter table of the job `consume`", default=""
    )
    status_tables: tuple[str, ...] = account_tables_setting()
    rejected_bucket: str = setting(
        "PENSTOCK_REJECTED_BUCKET", "bucket that keeps events that are not written", default=""
    )

    @property
    def errors_tables(self) -> tuple[str, ...]:
        """Return the dead-letter tables, each once."""
        return tuple(dict.fromkeys(filter(None, (self.errors_table, *self.status_tables))))

    def load(self) -> Registries:
        """Build the registries, which may be none."""
        if not (self.registry or self.registry_backups):
            return Registries([], dict(self.unframed))
        return load_registries(self.registry, self.registry_backups, dict(self.unframed))
