"""Confluent Schema Registry, and registries that are compatible with its API.

A number identifies a definition, not a version: subjects with the same definition share it. The
version of an id is in the subject that the allow-list and the naming of subjects select, the first
one by name if several remain (docs/adr/20261122-registries-over-http.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from penstock.attempts import Attempts
from penstock.errors import (
    SchemaError,
    SchemaForbiddenError,
    SchemaLimitError,
    SchemaNotFoundError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry._base import PENDING_ATTEMPTS, VersionedRegistry
from penstock.registry._http_client import HttpClient, reading_answer
from penstock.registry._validation import AllowList
from penstock.registry.http_settings import HttpRegistrySettings
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.registry.rules import ComparedWith
from penstock.schemas import Compatibility, inline_references

_REGISTRY: Final = "confluent"
_DELETED: Final = {"deleted": "true"}
_MAX_REFERENCES = 100
_ALL, _TRANSITIVE = "_ALL", "_TRANSITIVE"
_ID_SIZE = 4


class ConfluentRegistry(VersionedRegistry):
    """One registry with Confluent's API; building it makes no call."""

    # Confluent compares with the version before; only the _TRANSITIVE modes with all.
    _readings = (ComparedWith.PREVIOUS,)

    def __init__(self, settings: HttpRegistrySettings, *, attempts: Attempts | None = None) -> None:
        patterns = tuple(f"{_REGISTRY}/{each}" for each in settings.allow or ("*",))
        super().__init__(_REGISTRY, AllowList(patterns), PENDING_ATTEMPTS)
        self._settings = settings
        self._subjects = settings.subjects
        self._http = HttpClient(settings, attempts)

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are in this registry."""
        return FrameKind.CONFLUENT

    @property
    def source(self) -> str:
        """The registry's URL with its allow-list, without secrets."""
        return self._settings.source

    def _find(self, name: str, definition: str) -> str | None:
        try:
            answer = self._http.call("POST", self._subject(name), _body(definition))
        except SchemaNotFoundError:
            return None
        with reading_answer():
            return _key_text(answer["id"])

    def _add(self, name: str, definition: str) -> str:
        self._list(name)  # the registry would create the subject
        return self._post(name, definition)

    def _create(self, name: str, definition: str) -> str | None:
        if self._settings.compatibility is not None:
            level = json.dumps({"compatibility": _write_mode(self._settings.compatibility)})
            path = f"/config/{quote(self._subjects.subject_of(name), safe='')}"
            self._http.call("PUT", path, level)
        return self._post(name, definition)

    def _post(self, name: str, definition: str) -> str:
        answer = self._http.call("POST", f"{self._subject(name)}/versions", _body(definition))
        with reading_answer():
            return _key_text(answer["id"])

    def _read(self, version_id: str) -> StoredVersion:
        stored = self._read_place(*self._choose(version_id, self._places(version_id)), version_id)
        # A version answers with its number, which is checked against the number that was asked for.
        return replace(stored, id=version_id) if _is_guid(version_id) else stored

    def _read_stored(self, name: str, version_id: str) -> StoredVersion:
        subject = self._subjects.subject_of(name)
        places = [place for place in self._places(version_id) if place[0] == subject]
        return self._read_place(*self._choose(version_id, places), version_id)

    def _read_number(self, subject: str, number: int) -> StoredVersion:
        name = subject.partition("/")[2]
        path = f"{self._subject(name)}/versions/{number}"
        return self._stored(self._http.call("GET", path))

    def _list(self, name: str) -> Collection[int]:
        answer = self._http.call("GET", f"{self._subject(name)}/versions")
        with reading_answer():
            return [int(number) for number in answer]

    def _rule(self, name: str) -> tuple[Compatibility, int]:
        path = f"/config/{quote(self._subjects.subject_of(name), safe='')}"
        try:
            answer = self._http.call("GET", path, query={"defaultToGlobal": "true"})
        except SchemaNotFoundError:
            answer = self._http.call("GET", "/config")
        with reading_answer():
            return (_read_mode(answer["compatibilityLevel"]), 1)

    def _mark_refused(self, version_id: str) -> None:
        """Do nothing: a version of this registry has no metadata."""

    def _subject(self, name: str) -> str:
        return f"/subjects/{quote(self._subjects.subject_of(name), safe='')}"

    def _places(self, version_id: str) -> list[tuple[str, int]]:
        """Return the subjects and numbers of an id, those of deleted versions too."""
        key = SchemaKey.parse(version_id)
        if key.kind is not FrameKind.CONFLUENT:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: {self.source} has ids of "
                f"{FrameKind.CONFLUENT} only"
            )
        number = int.from_bytes(key.id)
        if _is_guid(version_id):
            guid = version_id.partition(":")[2]
            ids = self._ask(version_id, f"/schemas/guids/{guid}/ids")
            with reading_answer():
                number = int(ids[0]["id"]) if ids else 0
        found = self._ask(version_id, f"/schemas/ids/{number}/versions", _DELETED)
        with reading_answer():
            return [(each["subject"], int(each["version"])) for each in found]

    def _ask(self, version_id: str, path: str, query: Mapping[str, str] | None = None) -> Any:
        try:
            return self._http.call("GET", path, query=query)
        except SchemaNotFoundError as error:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: {error}"
            ) from error

    def _choose(self, version_id: str, places: list[tuple[str, int]]) -> tuple[str, int]:
        """Return the place of an id that this registry's settings select."""
        if not places:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: no subject of {self.source} has it"
            )
        ranked = sorted(
            places,
            key=lambda place: (
                not self._is_allowed(place[0]),
                not self._subjects.matches(place[0]),
                place[0],
                -place[1],
            ),
        )
        return ranked[0]

    def _is_allowed(self, subject: str) -> bool:
        try:
            self._allow.check("", f"{_REGISTRY}/{self._subjects.name_of(subject)}")
        except SchemaForbiddenError:
            return False
        return True

    def _read_place(self, subject: str, number: int, version_id: str) -> StoredVersion:
        try:
            return self._stored(self._http.call("GET", _path(subject, number)))
        except SchemaNotFoundError:
            found = self._stored(self._ask(version_id, _path(subject, number), _DELETED))
            return replace(found, status=VersionStatus.DELETING)

    def _stored(self, answer: Any) -> StoredVersion:
        """Return the version of an answer, in which references are replaced by their types."""
        with reading_answer():
            stored = StoredVersion(
                _key_text(answer["id"]),
                f"{_REGISTRY}/{self._subjects.name_of(answer['subject'])}",
                int(answer["version"]),
                VersionStatus.AVAILABLE,
                str(answer["schema"]),
                None,
                str(answer.get("schemaType") or "AVRO"),
            )
        if not answer.get("references") or stored.data_format != "AVRO":
            return stored
        types = tuple(self._read_references(answer, set()))
        try:
            return replace(stored, definition=inline_references(stored.definition, types))
        except SchemaError:
            return stored  # whoever uses the version is told what is wrong with it

    def _read_references(self, answer: Any, seen: set[tuple[str, int]]) -> Iterator[str]:
        """Yield the definitions of a schema's references, each one after those that it uses."""
        for each in answer.get("references") or ():
            with reading_answer():
                place = str(each["subject"]), int(each["version"])
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > _MAX_REFERENCES:
                raise SchemaLimitError(f"a schema has more than {_MAX_REFERENCES} references")
            found = self._http.call("GET", _path(*place), query=_DELETED)
            yield from self._read_references(found, seen)
            with reading_answer():
                definition = str(found["schema"])
            yield definition


def _path(subject: str, number: int) -> str:
    return f"/subjects/{quote(subject, safe='')}/versions/{number}"


def _body(definition: str) -> str:
    return json.dumps({"schema": definition})


def _key_text(number: Any) -> str:
    return str(SchemaKey(FrameKind.CONFLUENT, int(number).to_bytes(_ID_SIZE)))


def _is_guid(version_id: str) -> bool:
    return len(SchemaKey.parse(version_id).id) != _ID_SIZE


def _read_mode(level: str) -> Compatibility:
    return Compatibility(level.replace(_TRANSITIVE, _ALL))


def _write_mode(mode: Compatibility) -> str:
    return mode.replace(_ALL, _TRANSITIVE)
