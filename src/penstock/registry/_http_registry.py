"""The part that registries over HTTP share: ids of one kind, subjects, and names of modes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Final
from urllib.parse import quote

from penstock.attempts import Attempts
from penstock.errors import SchemaForbiddenError, SchemaNotFoundError
from penstock.framing import SchemaKey
from penstock.registry._base import PENDING_ATTEMPTS, VersionedRegistry
from penstock.registry._http_client import HttpClient, reading_answer
from penstock.registry._validation import AllowList
from penstock.registry.http_settings import HttpRegistrySettings
from penstock.registry.interface import SchemaVersion
from penstock.registry.rules import ComparedWith
from penstock.schemas import Compatibility

_ALL, _TRANSITIVE = "_ALL", "_TRANSITIVE"

# Confluent's option to be answered about deleted subjects and versions too.
DELETED: Final = {"deleted": "true"}


class HttpRegistry(VersionedRegistry):
    """A registry over HTTP whose ids are numbers; building it makes no call."""

    _id_field: ClassVar[str]  # the field of answers that has the id

    # These registries compare with the previous version, and in the _TRANSITIVE modes with all.
    _readings = (ComparedWith.PREVIOUS,)

    def __init__(self, settings: HttpRegistrySettings, *, attempts: Attempts | None = None) -> None:
        patterns = tuple(f"{self._kind}/{each}" for each in settings.allow or ("*",))
        allow = AllowList(patterns)
        super().__init__(self._kind, allow, PENDING_ATTEMPTS, settings.compatibility)
        self._settings = settings
        self._subjects = settings.subjects
        self._http = HttpClient(settings, attempts)

    @property
    def source(self) -> str:
        """The registry's URL with its allow-list, without secrets."""
        return self._settings.source

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key, within the time of one call."""
        with self._http.limited():
            return super().get(key)

    @abstractmethod
    def _set_mode(self, name: str, mode: Compatibility) -> None:
        """Set a schema's compatibility mode."""

    def _change_mode(self, name: str, mode: Compatibility, _checkpoint: int) -> None:
        self._set_mode(name, mode)

    def _mark_refused(self, version_id: str) -> None:
        """Do nothing: people read the reason in the dead letter."""

    def _number_of(self, version_id: str) -> int:
        """Return the number of an id; SchemaNotFoundError if it is of another kind of registry."""
        key = SchemaKey.parse(version_id)
        if key.kind is not self._kind:
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: {self.source} has ids of "
                f"{self._kind} only"
            )
        return int.from_bytes(key.id)

    def _read_id(self, answer: Any) -> str:
        """Return the id in an answer, as the text of its key."""
        with reading_answer():
            return str(SchemaKey.parse(f"{self._kind}:{int(answer[self._id_field])}"))

    def _is_allowed(self, name: str) -> bool:
        try:
            self._allow.check("", f"{self._kind}/{name}")
        except SchemaForbiddenError:
            return False
        return True

    def _quote_subject(self, name: str) -> str:
        return quote(self._subjects.subject_of(name), safe="")


def read_mode(level: str) -> Compatibility:
    """Return the compatibility mode of a level, as these registries name it."""
    return Compatibility(level.replace(_TRANSITIVE, _ALL))


def write_mode(mode: Compatibility) -> str:
    """Return the name of a compatibility mode in these registries."""
    return mode.replace(_ALL, _TRANSITIVE)
