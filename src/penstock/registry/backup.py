"""The backup of a schema registry: every version with its id, number and definition, as JSON lines.

| line       | what it holds                                                                   |
| ---------- | ------------------------------------------------------------------------------- |
| `registry` | first: the version of this format, the registry's name, the kind of its ids     |
| `schema`   | name, compatibility, checkpoint, data format, description, tags                 |
| `version`  | of the schema above: number, id, status, definition, time of its registration,  |
|            | and its data format if it has another one                                       |
| `end`      | last: a checksum of all lines                                                   |

Each line ends with a checksum of its own. One registry in one state has one text: schemas are in
the order of their names, versions in that of their numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from penstock.errors import SettingsError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility

_FORMAT: Final = 1
_CHECK_SIZE: Final = 16
_KINDS: Final[Mapping[type, str]] = {
    bool: "true or false",
    dict: "an object",
    int: "a number",
    str: "a string",
}
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SchemaBackup:
    """One schema of a registry, with its versions of every status, oldest first.

    `checkpoint` is 0 in a registry without checkpoints, which compares with the version before.
    `data_format` is that of the newest version, of those that are available if there are any.
    """

    name: str
    compatibility: Compatibility
    checkpoint: int
    data_format: str
    description: str
    tags: Mapping[str, str]
    versions: tuple[StoredVersion, ...]


@dataclass(frozen=True, slots=True)
class RegistryBackup:
    """All schemas of a registry, by name, and the kind of frames that have its ids.

    `content_ids` says that the ids are Apicurio's content ids: it was read by its Confluent API.
    """

    registry: str
    kind: FrameKind
    schemas: tuple[SchemaBackup, ...]
    content_ids: bool = False


def write_backup(backup: RegistryBackup) -> str:
    """Return a backup as text; equal backups have equal texts."""
    checks = []
    lines = []
    for values in _list_lines(backup):
        checks.append(_check(values))
        lines.append(_dump(values | {"check": checks[-1]}))
    end = {"line": "end", "sha256": _digest("".join(checks))}
    return "\n".join([*lines, _dump(end | {"check": _check(end)})]) + "\n"


def read_backup(text: str, where: str) -> RegistryBackup:
    """Return the backup that `write_backup` wrote.

    Args:
        text: the whole text.
        where: the text's place, for messages.

    Raises:
        SettingsError: the text is no whole backup; the message names the line and the reason.
    """
    reader, number = _Reader(), 0
    for number, line in enumerate(_split_lines(text), 1):
        try:
            reader.read(_load(line))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else error
            raise SettingsError([f"{where}, line {number}: {reason}"]) from error
    if not reader.is_complete:
        raise SettingsError(
            [
                f"{where}, line {number + 1}: found the end of the file, expected more lines of "
                "`penstock schema export`"
            ]
        )
    return reader.backup()


def _split_lines(text: str) -> Iterator[str]:
    """Yield the lines one by one: a list of them would take the memory of the text again."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield text[begin:end]
        begin = end + 1


class _Reader:
    """Reads the lines of a backup in their order."""

    def __init__(self) -> None:
        self.is_complete = False
        self._registry: tuple[str, FrameKind] | None = None
        self._content_ids = False
        self._schemas: list[SchemaBackup] = []
        self._definitions: dict[str, str] = {}
        self._checks = ""

    def read(self, values: dict[str, Any]) -> None:
        """Read one line; ValueError, KeyError or TypeError if it is not as it was written."""
        if self.is_complete:
            raise ValueError("found a line after the line `end`")
        kind = values["line"]
        if (kind == "registry") != (self._registry is None):
            raise ValueError(f"found a line {kind!r}, expected one line `registry`, the first")
        match kind:
            case "registry":
                self._read_registry(values)
            case "schema":
                self._read_schema(values)
            case "version":
                self._read_version(values)
            case "end":
                self._read_end(values)
            case _:
                raise ValueError(f"found a line {kind!r}, expected schema, version or end")
        self._checks += values["check"]

    def backup(self) -> RegistryBackup:
        """Return the backup, once it is complete."""
        assert self._registry is not None  # noqa: S101 - a complete backup has the line
        return RegistryBackup(*self._registry, tuple(self._schemas), self._content_ids)

    def _read_registry(self, values: dict[str, Any]) -> None:
        if values["format"] != _FORMAT:
            raise ValueError(f"found format {values['format']}, expected {_FORMAT}")
        self._registry = (
            _get_value(values, "name", str),
            _get_choice(values, "kind", FrameKind),
        )
        self._content_ids = _get_value(values, "content_ids", bool)

    def _read_schema(self, values: dict[str, Any]) -> None:
        name = _get_value(values, "name", str)
        if self._schemas and name <= self._schemas[-1].name:
            raise ValueError(f"found schema {name} after {self._schemas[-1].name}")
        self._schemas.append(
            SchemaBackup(
                name,
                _get_choice(values, "compatibility", Compatibility),
                _get_value(values, "checkpoint", int),
                _get_value(values, "data_format", str),
                _get_value(values, "description", str),
                _get_value(values, "tags", dict),
                (),
            )
        )

    def _read_version(self, values: dict[str, Any]) -> None:
        if not self._schemas:
            raise ValueError("found a version before any schema")
        schema, (registry, kind) = self._schemas[-1], self._registry or ("", FrameKind.GLUE)
        version = StoredVersion(
            _get_value(values, "id", str),
            f"{registry}/{schema.name}",
            _get_value(values, "number", int),
            _get_choice(values, "status", VersionStatus),
            _get_value(values, "definition", str),
            _get_time(values, "registered_at"),
            _get_value({"data_format": schema.data_format} | values, "data_format", str),
            _get_value(values, "guid", str),
        )
        for key in version.keys:
            self._check_key(key, kind, version.definition)
        if schema.versions and version.number <= schema.versions[-1].number:
            raise ValueError(
                f"found version {version.number} after version {schema.versions[-1].number}"
            )
        self._schemas[-1] = replace(schema, versions=(*schema.versions, version))

    def _check_key(self, key: str, kind: FrameKind, definition: str) -> None:
        if SchemaKey.parse(key).kind is not kind:
            raise ValueError(f"found id {key}, expected an id of {kind}")
        if self._definitions.setdefault(key, definition) != definition:
            raise ValueError(f"found id {key} a second time, with another definition")

    def _read_end(self, values: dict[str, Any]) -> None:
        if values["sha256"] != _digest(self._checks):
            raise ValueError("lines before this one are missing, were added or moved")
        self.is_complete = True


def _list_lines(backup: RegistryBackup) -> Iterator[dict[str, Any]]:
    yield {
        "line": "registry",
        "format": _FORMAT,
        "name": backup.registry,
        "kind": backup.kind.value,
        "content_ids": backup.content_ids,
    }
    for schema in sorted(backup.schemas, key=lambda each: each.name):
        yield {
            "line": "schema",
            "name": schema.name,
            "compatibility": schema.compatibility.value,
            "checkpoint": schema.checkpoint,
            "data_format": schema.data_format,
            "description": schema.description,
            "tags": dict(sorted(schema.tags.items())),
        }
        for version in sorted(schema.versions, key=lambda each: each.number):
            time = version.registered_at
            is_alike = version.data_format == schema.data_format
            yield {
                "line": "version",
                "number": version.number,
                "id": version.id,
                "guid": version.guid,
                "status": version.status.value,
                "registered_at": time and time.isoformat(),
                "definition": version.definition,
                **({} if is_alike else {"data_format": version.data_format}),
            }


def _load(line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError("found no JSON object")
    if not (_is_as_written(line, values) or _is_alike(values)):
        raise ValueError("the line does not match its checksum: it was changed, or is damaged")
    return values


def _is_as_written(line: str, values: Mapping[str, Any]) -> bool:
    """Return whether the text of a line is what its checksum, the last member, is of."""
    check = values.get("check")
    rest = line.removesuffix(f',"check":"{check}"}}')
    return len(rest) < len(line) and _digest(f"{rest}}}")[:_CHECK_SIZE] == check


def _is_alike(values: Mapping[str, Any]) -> bool:
    """Return whether the values have the checksum, though another program wrote their text."""
    return values.get("check") == _check({key: values[key] for key in values if key != "check"})


def _get_value(values: Mapping[str, Any], name: str, kind: type) -> Any:
    value = values[name]
    if type(value) is not kind:
        raise ValueError(f"{name} is {value!r:.40}, expected {_KINDS[kind]}")
    return value


def _get_choice(values: Mapping[str, Any], name: str, kind: type[_Choice]) -> _Choice:
    value = values[name]
    try:
        return kind(value)
    except ValueError:
        expected = f"expected one of {', '.join(kind)}"
        raise ValueError(f"{name} is {value!r:.40}, {expected}") from None


def _get_time(values: Mapping[str, Any], name: str) -> datetime | None:
    value = values[name]
    try:
        return None if value is None else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r:.40}, expected a time or null") from None


def _dump(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"))


def _check(values: Mapping[str, Any]) -> str:
    return _digest(_dump(values))[:_CHECK_SIZE]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
