"""Schema versions in a file, so that a start needs no registry.

| member   | what it holds                                                     |
| -------- | ----------------------------------------------------------------- |
| format   | 1                                                                 |
| source   | the registry and its allow-list, as `SchemaRegistry.source` says  |
| versions | id, arn, name, number, status, definition, registered_at of each  |
| lists    | by schema name, the ids of its usable versions                    |
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.registry.interface import SchemaVersion
from penstock.registry.written import read_version, write_version

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a file holds: versions by id, and the lists of each schema's usable ones."""

    versions: Mapping[str, SchemaVersion]
    lists: Mapping[str, tuple[SchemaVersion, ...]]


def read_bundle(path: Path, source: str) -> Bundle:
    """Read a bundle; ValueError says why it cannot be used, OSError that it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError(f"its format is {content['format']!r}, expected {_FORMAT}")
        if content["source"] != source:
            raise ValueError(f"it was written for {content['source']}, expected {source}")
        versions = {each["id"]: read_version(each) for each in content["versions"]}
        lists = {
            name: tuple(versions[version_id] for version_id in ids)
            for name, ids in content["lists"].items()
        }
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is not as written by us: {error!r}") from error
    return Bundle(versions, lists)


def write_bundle(
    path: Path, source: str, versions: Iterable[SchemaVersion], lists: Mapping[str, Iterable[str]]
) -> None:
    """Write a bundle in one step: who reads meanwhile gets the old one or the new one."""
    content = {
        "format": _FORMAT,
        "source": source,
        "versions": [write_version(version) for version in versions],
        "lists": {name: list(ids) for name, ids in lists.items()},
    }
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        written = Path(file.name)
        try:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
