"""Settings of the registries that a consumer reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from penstock.framing import SchemaKey
from penstock.registry.registries import Registries, load_registries
from penstock.settings import Settings, setting

_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def _parse_backups(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def backups_setting() -> Any:
    """Return the setting that names backups of registries."""
    return setting(
        "PENSTOCK_REGISTRY_BACKUPS",
        "paths or s3:// URLs, separated by spaces, of backups that `penstock schema export` wrote: "
        "records whose schema ids the registry does not know are read with them",
        parse=_parse_backups,
        default=(),
    )


def _parse_unframed(text: str) -> tuple[tuple[str, SchemaKey], ...]:
    keys: dict[str, SchemaKey] = {}
    for pair in text.split(","):
        topic, _, key = pair.strip().partition("=")
        if not _TOPIC.fullmatch(topic) or topic in keys:
            raise ValueError(text)
        keys[topic] = SchemaKey.parse(key)
    return tuple(keys.items())


def unframed_setting() -> Any:
    """Declare the setting for topics without frames."""
    return setting(
        "PENSTOCK_UNFRAMED",
        "topic=schema id, separated by commas, for topics whose values are Avro without a frame: "
        "each value is read as written in the schema of this id, the latest version or not; ids "
        "are those that `penstock schema versions` prints, such as confluent:17",
        parse=_parse_unframed,
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
    unframed: tuple[tuple[str, SchemaKey], ...] = unframed_setting()

    def load(self) -> Registries:
        """Build the registries; see `load_registries`."""
        return load_registries(self.registry, self.registry_backups, dict(self.unframed))
