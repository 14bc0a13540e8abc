"""Settings of the registries that a consumer reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.registry.registries import Registries, load_registries
from penstock.settings import Settings, setting


def _parse_backups(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def backups_setting() -> Any:
    """Declare the setting for backups."""
    return setting(
        "PENSTOCK_REGISTRY_BACKUPS",
        "paths or s3:// URLs, separated by spaces, of backups that `penstock schema export` wrote: "
        "records whose schema ids the registry does not know are read with them",
        parse=_parse_backups,
        default=(),
    )


@dataclass(frozen=True, slots=True)
class RegistrySettings(Settings):
    """The registries, and backups of registries whose ids are in old records."""

    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URL of the schema registry, such as glue://NAME?role_arn=...&external_id=..., or URLs "
        "separated by spaces, one for each kind of frames",
        secret=True,  # it may hold an external id
    )
    registry_backups: tuple[str, ...] = backups_setting()

    def load(self) -> Registries:
        """Build the registries; see `load_registries`."""
        return load_registries(self.registry, self.registry_backups)
