"""Apicurio Registry by its own API, version 2, which Apicurio 2 and 3 serve.

A global id identifies one version of one artifact. The API finds an artifact by the global id of
its newest version only; for an older one, the allowed artifacts of the group are read. A version
that is disabled is not found, as it may be enabled again.

What Apicurio calls a version is a label: a number, unless people chose it. Versions have the order
of their global ids.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from penstock.attempts import Attempts
from penstock.errors import IncompatibleSchemaError, SchemaNotFoundError
from penstock.framing import FrameKind
from penstock.registry._apicurio_index import GroupIndex
from penstock.registry._apicurio_pages import Pages
from penstock.registry._http_client import reading_answer
from penstock.registry._http_registry import HttpRegistry, read_mode, write_mode
from penstock.registry.http_settings import HttpRegistrySettings
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility

_API = "/apis/registry/v2"
_PAGE_SIZE = 500
_RULE = "COMPATIBILITY"
_DISABLED = "DISABLED"
_FIRST_LABEL = "1"
_MOST_DIGITS = 4  # of a label that is a number of versions; a longer one is a date, for example


class ApicurioRegistry(HttpRegistry):
    """One group of an Apicurio Registry; building it makes no call."""

    _kind = FrameKind.APICURIO
    _id_field = "globalId"

    def __init__(self, settings: HttpRegistrySettings, *, attempts: Attempts | None = None) -> None:
        super().__init__(settings, attempts=attempts)
        self._index = GroupIndex(self._allowed_names, self._list_metas, self._http.clock)
        self._listed: dict[str, Mapping[int, Any]] = {}  # what was last read of each artifact
        self._numbers: dict[str, dict[int, int]] = {}  # of versions by their global ids
        self._artifacts = f"{_API}/groups/{quote(settings.group, safe='')}/artifacts"

    def _find_version(self, name: str, definition: str) -> str | None:
        try:
            found = self._http.call("POST", f"{self._artifact(name)}/meta", definition)
        except SchemaNotFoundError:
            return None
        return self._read_id(found)

    def _add(self, name: str, definition: str) -> str:
        self._list_versions(name)  # the registry would create the artifact
        return self._read_id(self._post(name, definition))

    def _create(self, name: str, definition: str) -> str | None:
        try:
            made = self._post(name, definition)
        except IncompatibleSchemaError:  # another producer's version or rule came first
            return None
        with reading_answer():
            is_first = made["version"] == _FIRST_LABEL
        if self._settings.compatibility is not None and is_first:
            with suppress(IncompatibleSchemaError):  # the artifact has a rule by now
                self._add_rule(name, self._settings.compatibility)
        return self._read_id(made)

    def _add_rule(self, name: str, mode: Compatibility) -> None:
        rule = json.dumps({"type": _RULE, "config": write_mode(mode)})
        self._http.call("POST", f"{self._artifact(name)}/rules", rule)

    def _set_mode(self, name: str, mode: Compatibility) -> None:
        rule = json.dumps({"type": _RULE, "config": write_mode(mode)})
        try:
            self._http.call("PUT", f"{self._artifact(name)}/rules/{_RULE}", rule)
        except SchemaNotFoundError:
            self._add_rule(name, mode)

    def _post(self, name: str, definition: str, data_format: str = "AVRO") -> Any:
        """Store a version and return its metadata; a retry finds what the call before stored."""
        return self._http.call(
            "POST",
            self._artifacts,
            definition,
            query={"ifExists": "RETURN_OR_UPDATE"},
            headers={
                "X-Registry-ArtifactId": self._subjects.subject_of(name),
                "X-Registry-ArtifactType": data_format,
            },
        )

    def _read_version(self, version_id: str) -> StoredVersion:
        number = self._number_of(version_id)
        try:
            definition = self._read_definition(number)
        except SchemaNotFoundError as error:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: {error}"
            ) from error
        name, meta = self._locate(version_id, number)
        return replace(self._parse(name, meta), definition=definition)

    def _locate(self, version_id: str, number: int) -> tuple[str, Any]:
        """Return the schema and the metadata of a version whose definition was read."""
        if number not in self._index:
            newest_of = next(self._names({"globalId": str(number)}), None)
            if newest_of is not None:
                self._index.read(newest_of)
        with self._http.limited() as deadline:
            found = self._index.find(number, deadline)
        if found is None:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found in the allowed artifacts of the group "
                f"{self._settings.group} of {self.source}"
            )
        return found

    def _allowed_names(self) -> Iterator[str]:
        return filter(self._is_allowed, self._names({}))

    def _read_number(self, subject: str, number: int) -> StoredVersion:
        name = subject.partition("/")[2]
        meta = (self._listed.get(name) or self._metas(name)).get(number)
        if meta is None:
            raise SchemaNotFoundError(f"version {number} of schema {name} is not found")
        stored = self._parse(name, meta)
        if stored.status is VersionStatus.FAILURE:
            return stored  # the definition of a disabled version is not readable
        with reading_answer():
            return replace(stored, definition=self._read_definition(int(meta["globalId"])))

    def _list_versions(self, name: str) -> Collection[int]:
        return list(self._metas(name))

    def _rule(self, name: str) -> tuple[Compatibility, int]:
        for path in (f"{self._artifact(name)}/rules", f"{_API}/admin/rules"):
            try:
                rule = self._http.call("GET", f"{path}/{_RULE}")
            except SchemaNotFoundError:
                continue
            with reading_answer():
                return read_mode(rule["config"]), 1
        return Compatibility.NONE, 1

    def _artifact(self, name: str) -> str:
        return f"{self._artifacts}/{self._quote_subject(name)}"

    def _metas(self, name: str) -> Mapping[int, Any]:
        """Return the metadata of each version of a schema by number."""
        with self._http.limited():
            metas = list(self._pages(f"{self._artifact(name)}/versions", "versions", {}))
        with reading_answer():
            numbers = self._numbers.setdefault(name, {})
            listed = self._listed[name] = _number_versions(metas, numbers)
        return listed

    def _list_metas(self, name: str) -> Collection[Any]:
        return self._metas(name).values()

    def _names(self, query: Mapping[str, str]) -> Iterator[str]:
        """Return the schemas that a search in the group finds, as `Pages` does."""
        query = {"group": self._settings.group, **query}
        return map(self._read_name, self._pages(f"{_API}/search/artifacts", "artifacts", query))

    def _read_name(self, found: Any) -> str:
        with reading_answer():
            return self._subjects.name_of(found["id"])

    def _pages(self, path: str, what: str, query: Mapping[str, str]) -> Iterator[Any]:
        def read_page(offset: int) -> tuple[list[Any], int]:
            place = {"limit": str(_PAGE_SIZE), "offset": str(offset)}
            page = self._http.call("GET", path, query={**query, **place})
            with reading_answer():
                return list(page[what]), int(page["count"])

        return Pages(read_page)

    def _parse(self, name: str, meta: Any) -> StoredVersion:
        """Return the version of this metadata, without its definition."""
        with reading_answer():
            disabled = meta["state"] == _DISABLED
            return StoredVersion(
                self._read_id(meta),
                f"{self._kind}/{name}",
                meta["number"],
                VersionStatus.FAILURE if disabled else VersionStatus.AVAILABLE,
                "",
                datetime.strptime(meta["createdOn"], "%Y-%m-%dT%H:%M:%S%z"),
                str(meta["type"]),
            )

    def _read_definition(self, number: int) -> str:
        """Return a definition in which references to other schemas are replaced by their types."""
        path = f"{_API}/ids/globalIds/{number}"
        return self._http.read("GET", path, query={"dereference": "true"})


def _number_versions(metas: Iterable[Any], numbers: dict[int, int]) -> Mapping[int, Any]:
    """Return the metadata of an artifact's versions by number, each with its number.

    Apicurio's own labels are numbers that grow, so such a label is the number, which stays when a
    version below is deleted. Any other version has the number after all that were given in
    `numbers`, by global id, and keeps it there.
    """
    numbered: dict[int, Any] = {}
    last = 0
    for meta in sorted(metas, key=lambda each: int(each["globalId"])):
        id_, label = int(meta["globalId"]), str(meta["version"])
        if id_ not in numbers:
            if label.isdecimal() and len(label) <= _MOST_DIGITS:
                numbers[id_] = max(last + 1, int(label))
            else:
                numbers[id_] = max(numbers.values(), default=0) + 1
        last = numbers[id_]
        numbered[last] = {**meta, "number": last}
    return numbered
