"""Confluent Schema Registry, and registries that are compatible with its API.

A number identifies a definition, not a version: subjects with the same definition share it. The
version of an id is in the subject that the allow-list and the naming of subjects select, the first
one by name if several remain (docs/adr/0025-bounded-registry-client.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from penstock.errors import (
    SchemaError,
    SchemaLimitError,
    SchemaNotFoundError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry._http_client import reading_answer
from penstock.registry._http_registry import DELETED, HttpRegistry, read_mode, write_mode
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility, inline_references

_MAX_REFERENCES = 100
_GUID_SIZE = 16


class ConfluentRegistry(HttpRegistry):
    """One registry with Confluent's API; building it makes no call."""

    _kind = FrameKind.CONFLUENT
    _id_field = "id"

    def _find_version(self, name: str, definition: str) -> str | None:
        try:
            answer = self._http.call("POST", self._subject(name), _body(definition))
        except SchemaNotFoundError:
            return None
        return self._read_id(answer)

    def _add(self, name: str, definition: str) -> str:
        self._list_versions(name)  # the registry would create the subject
        return self._post(name, definition)

    def _create(self, name: str, definition: str) -> str | None:
        mode = self._settings.compatibility
        if mode is None:
            return self._post(name, definition)
        return self._create_with_mode(name, mode, definition)

    def _create_with_mode(
        self, name: str, mode: Compatibility, definition: str, data_format: str = "AVRO"
    ) -> str:
        try:
            self._set_mode(name, mode)
        except SchemaNotFoundError:  # Apicurio takes NONE for subjects that exist
            added = self._post(name, definition, data_format)
            self._set_mode(name, mode)
            return added
        return self._post(name, definition, data_format)

    def _set_mode(self, name: str, mode: Compatibility) -> None:
        level = json.dumps({"compatibility": write_mode(mode)})
        self._http.call("PUT", f"/config/{self._quote_subject(name)}", level)

    def _post(self, name: str, definition: str, data_format: str = "AVRO") -> str:
        path = f"{self._subject(name)}/versions"
        return self._read_id(self._http.call("POST", path, _body(definition, data_format)))

    def _read_version(self, version_id: str) -> StoredVersion:
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

    def _list_versions(self, name: str) -> Collection[int]:
        answer = self._http.call("GET", f"{self._subject(name)}/versions")
        with reading_answer():
            return [int(number) for number in answer]

    def _rule(self, name: str) -> tuple[Compatibility, int]:
        path = f"/config/{self._quote_subject(name)}"
        try:
            answer = self._http.call("GET", path, query={"defaultToGlobal": "true"})
        except SchemaNotFoundError:
            answer = self._http.call("GET", "/config")
        with reading_answer():
            return (read_mode(answer["compatibilityLevel"]), 1)

    def _subject(self, name: str) -> str:
        return f"/subjects/{self._quote_subject(name)}"

    def _places(self, version_id: str) -> list[tuple[str, int]]:
        """Return the subjects and numbers of an id, those of deleted versions too."""
        number = self._number_of(version_id)
        if _is_guid(version_id):
            guid = version_id.partition(":")[2]
            ids = self._get_json(version_id, f"/schemas/guids/{guid}/ids")
            with reading_answer():
                number = int(ids[0]["id"]) if ids else 0
        found = self._get_json(version_id, f"/schemas/ids/{number}/versions", DELETED)
        with reading_answer():
            return [(each["subject"], int(each["version"])) for each in found]

    def _get_json(self, version_id: str, path: str, query: Mapping[str, str] | None = None) -> Any:
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
                not self._is_allowed(self._subjects.name_of(place[0])),
                not self._subjects.matches(place[0]),
                place[0],
                -place[1],
            ),
        )
        return ranked[0]

    def _read_place(self, subject: str, number: int, version_id: str) -> StoredVersion:
        try:
            return self._stored(self._http.call("GET", _path(subject, number)))
        except SchemaNotFoundError:
            found = self._stored(self._get_json(version_id, _path(subject, number), DELETED))
            return replace(found, status=VersionStatus.DELETING)

    def _stored(self, answer: Any) -> StoredVersion:
        """Return the version of an answer, in which references are replaced by their types."""
        with reading_answer():
            stored = StoredVersion(
                self._read_id(answer),
                f"{self._kind}/{self._subjects.name_of(answer['subject'])}",
                int(answer["version"]),
                VersionStatus.AVAILABLE,
                str(answer["schema"]),
                None,
                str(answer.get("schemaType") or "AVRO"),
                str(SchemaKey.parse(f"{self._kind}:{answer['guid']}"))
                if answer.get("guid")
                else "",
            )
        if not answer.get("references") or stored.data_format != "AVRO":
            return stored
        with self._http.limited():
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
            yield from self._read_reference(place, seen)

    def _read_reference(self, place: tuple[str, int], seen: set[tuple[str, int]]) -> Iterator[str]:
        """Yield a definition after those that it uses."""
        found = self._http.call("GET", _path(*place), query=DELETED)
        yield from self._read_references(found, seen)
        with reading_answer():
            definition = str(found["schema"])
        yield definition


def _path(subject: str, number: int) -> str:
    return f"/subjects/{quote(subject, safe='')}/versions/{number}"


def _body(definition: str, data_format: str = "AVRO") -> str:
    kind = {} if data_format == "AVRO" else {"schemaType": data_format}
    return json.dumps({"schema": definition, **kind})


def _is_guid(version_id: str) -> bool:
    return len(SchemaKey.parse(version_id).id) == _GUID_SIZE
