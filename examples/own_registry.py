"""A schema registry of your own: a folder with a file for each version, such as one under git.

Installed in a package, with this entry point, `folder:///srv/schemas` is the registry of producers,
consumers and jobs that have it as PENSTOCK_REGISTRY. (`penstock schema` knows Glue, Confluent and
Apicurio only.)

    [project.entry-points."penstock.registries"]
    folder = "own_registry:load"

A version is the file SCHEMA/NUMBER.avsc. Records carry its id in the frame of Glue's serialisers: a
UUID made of the schema's name and the number, the same on each machine that has the folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final
from urllib.parse import quote, unquote, urlsplit
from uuid import UUID, uuid5

from penstock.errors import IncompatibleSchemaError, SchemaNotFoundError, SettingsError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import Registration, SchemaVersion, VersionStatus, check_rule
from penstock.schemas import Compatibility, Schema, canonical_form, diff_schemas, load_schema

_SPACE: Final = UUID("0b5f2a86-6a0e-4f5c-9d39-6d1c3c1a7e50")
_MODE: Final = Compatibility.BACKWARD


@dataclass(frozen=True, slots=True)
class FolderRegistry:
    """The schemas of a folder; all of them grow by one rule, BACKWARD."""

    folder: Path

    @property
    def kind(self) -> FrameKind:
        """The kind of frames that carry its ids."""
        return FrameKind.GLUE

    @property
    def source(self) -> str:
        """Its URL."""
        return self.folder.as_uri().replace("file:", "folder:", 1)

    def register(self, name: str, schema: Schema) -> Registration:
        """Return the version with this definition; a new one is written to the next file."""
        definition = canonical_form(schema)
        before = self.versions(name)
        for index, version in enumerate(before):
            if canonical_form(version.schema) == definition:
                return Registration(version, False, before[index - 1] if index else None)
        latest = before[-1] if before else None
        if check_rule(schema, {each.number: each.schema for each in before}, _MODE):
            diff = f"{diff_schemas(latest.schema, schema)}" if latest else ""
            raise IncompatibleSchemaError(
                f"{name}: the rule {_MODE} refuses the definition", rule=_MODE, diff=diff
            )
        path = self._path(name, latest.number + 1 if latest else 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent) as file:
            file.write(definition)
            file.flush()
            Path(file.name).chmod(0o644)  # others read it too
            try:
                path.hardlink_to(file.name)  # the whole version, or none
            except FileExistsError:  # another producer was faster
                return self.register(name, schema)
        return Registration(_read(path), True, latest)

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key."""
        for path in self.folder.glob("*/*.avsc"):
            if _key_of(path) == key:
                return _read(path)
        raise SchemaNotFoundError(f"schema version {key} is not found in {self.source}")

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the newest version of a schema."""
        versions = self.versions(name)
        return versions[-1] if versions else None

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the versions of a schema, oldest first; empty if it does not exist."""
        files = self._path(name, 1).parent.glob("*.avsc")
        return tuple(sorted(map(_read, files), key=lambda version: version.number))

    def _path(self, name: str, number: int) -> Path:
        return self.folder / quote(name, safe="") / f"{number}.avsc"


def load(url: str, *, call_seconds: float | None = None) -> FolderRegistry:
    """Build the registry of a URL; a folder needs no limit of time.

    Raises:
        SettingsError: the URL names no folder.
    """
    parts = urlsplit(url)
    if parts.netloc or not parts.path:
        raise SettingsError([f"registry URL is {url}, expected folder:///PATH"])
    return FolderRegistry(Path(unquote(parts.path)))


def _read(path: Path) -> SchemaVersion:
    return SchemaVersion(
        _key_of(path),
        unquote(path.parent.name),
        int(path.stem),
        VersionStatus.AVAILABLE,
        load_schema(path.read_text()),
        datetime.fromtimestamp(path.stat().st_mtime, UTC),
    )


def _key_of(path: Path) -> SchemaKey:
    name, number = unquote(path.parent.name), int(path.stem)
    return SchemaKey(FrameKind.GLUE, uuid5(_SPACE, f"{name}/{number}").bytes)
