"""The behaviour that registries with numbered versions share; each kind adds the storage."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import ClassVar

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    Reason,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryError,
    RegistryUnavailableError,
    SchemaConflictError,
    SchemaError,
    SchemaNotFoundError,
    SchemaRefusedError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry._validation import AllowList, accept, write_definition
from penstock.registry.agreement import History
from penstock.registry.interface import (
    Registration,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
)
from penstock.registry.naming import SCHEMA_NAME
from penstock.registry.rules import ComparedWith, check_rule
from penstock.schemas import (
    Compatibility,
    Incompatibility,
    Schema,
    canonical_form,
    diff_schemas,
)

_LOG = logging.getLogger(__name__)

# Key and value of the metadata that informs people; the refusal itself needs no metadata.
REFUSED_MARK = ("penstock.refused", Reason.SCHEMA_CONFLICT.value)

# The two ways in which Glue's rule may be read; see `rules`.
GLUE_READINGS = (ComparedWith.CHECKPOINT, ComparedWith.PREVIOUS)

# A new version stays PENDING for milliseconds to seconds; AWS's client sleeps 3 s before its check.
PENDING_ATTEMPTS = Attempts(first_seconds=0.05, longest_seconds=1, total_seconds=10)


class VersionReader(ABC):
    """The reading half of a schema registry with numbered versions."""

    _kind = FrameKind.GLUE

    def __init__(self, registry: str, allow: AllowList, pending: Attempts) -> None:
        self._registry = registry
        self._allow = allow
        self._pending = pending
        self._histories: dict[str, History] = {}

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are in this registry."""
        return self._kind

    @abstractmethod
    def _read_version(self, version_id: str) -> StoredVersion:
        """Read a version by id."""

    @abstractmethod
    def _read_number(self, subject: str, number: int) -> StoredVersion:
        """Read a version by its schema, as REGISTRY/NAME, and its number."""

    @abstractmethod
    def _list_versions(self, name: str) -> Collection[int]:
        """List the numbers of a schema's versions, whatever their status."""

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key."""
        stored = self._read_final(str(key))
        version = accept(stored, self._allow)
        if version.status is VersionStatus.FAILURE:
            raise SchemaRefusedError(
                f"version {version.number} of schema {version.name} ({key}) has status "
                "FAILURE: the registry's rule refused it"
            )
        history = self._history(stored.subject)
        try:
            history.check(version)
        except SchemaConflictError as error:
            raise SchemaRefusedError(str(error)) from error
        if version.status is VersionStatus.AVAILABLE:
            history.add(version)
        return version

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the newest usable version of a schema."""
        versions = self.versions(name)
        return versions[-1] if versions else None

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the usable versions of a schema, oldest first; empty if it does not exist."""
        return self._list_usable(name)

    def _list_usable(self, name: str) -> tuple[SchemaVersion, ...]:
        try:
            numbers = self._list_versions(name)
        except SchemaNotFoundError:
            numbers = ()
        return self._history(f"{self._registry}/{name}").refresh(numbers)

    def _read_final(self, version_id: str) -> StoredVersion:
        """Return a version, after waiting while it is PENDING."""
        for _ in self._pending:
            stored = self._read_version(version_id)
            if stored.id != version_id:
                raise RegistryAnswerError(
                    f"the registry answered with schema version {stored.id}, "
                    f"expected {version_id} as asked"
                )
            if stored.status is not VersionStatus.PENDING:
                return stored
        raise RegistryUnavailableError(
            f"schema version {version_id} is still PENDING after {self._pending.total_seconds:g} s"
        )

    def _history(self, subject: str) -> History:
        return self._histories.setdefault(subject, History(partial(self._read_usable, subject)))

    def _read_usable(self, subject: str, number: int) -> SchemaVersion | None:
        """Read a version of a schema for its history; None if it is unusable."""
        stored = self._read_number(subject, number)
        if (stored.subject, stored.number) != (subject, number):
            raise RegistryAnswerError(
                f"the registry answered with version {stored.number} of {stored.subject}, "
                f"expected {number} of {subject} as asked"
            )
        if stored.status is VersionStatus.PENDING:
            stored = self._read_final(stored.id)
        if stored.status is not VersionStatus.AVAILABLE:
            return None
        try:
            return accept(stored, self._allow)
        except SchemaError:
            return None


class VersionedRegistry(VersionReader):
    """A schema registry, except for the few storage operations that each kind implements."""

    _readings: ClassVar[tuple[ComparedWith, ...]]  # of the registry's rule

    def __init__(
        self,
        registry: str,
        allow: AllowList,
        pending: Attempts,
        mode: Compatibility | None = None,
    ) -> None:
        super().__init__(registry, allow, pending)
        self._mode = mode  # of the schemas that get a new version; None leaves it as it is
        self._strict: set[tuple[str, ComparedWith]] = set()  # readings that refused a version

    @property
    def mode(self) -> Compatibility | None:
        """The mode of schemas that get a new version; None leaves it as it is."""
        return self._mode

    @abstractmethod
    def _find_version(self, name: str, definition: str) -> str | None:
        """Return the id of the version with this definition, whatever its status, or None."""

    @abstractmethod
    def _add(self, name: str, definition: str) -> str:
        """Store a version and return its id; SchemaNotFoundError if there is no such schema."""

    @abstractmethod
    def _create(self, name: str, definition: str) -> str | None:
        """Create a schema and return its first version's id; None if it exists by now."""

    @abstractmethod
    def _rule(self, name: str) -> tuple[Compatibility, int]:
        """Return a schema's compatibility mode and the version number of its checkpoint."""

    @abstractmethod
    def _change_mode(self, name: str, mode: Compatibility, checkpoint: int) -> None:
        """Change a schema's compatibility mode; the checkpoint stays."""

    @abstractmethod
    def _mark_refused(self, version_id: str) -> None:
        """Add metadata to the version that informs people of the refusal; idempotent."""

    def register(self, name: str, schema: Schema) -> Registration:
        """Return the usable version with this definition; a new definition is stored first."""
        if not SCHEMA_NAME.fullmatch(name):
            raise RegistryError(
                f"schema name {name!r} is not one that a registry accepts, "
                "expected 1 to 255 letters, digits or - _ $ # ."
            )
        definition = write_definition(schema)
        found = self._find_version(name, definition)
        if found is None:
            self._check_new(name, schema)
        stored = self._await_stored(name, found or self._store(name, definition))
        version = accept(stored, self._allow)
        if canonical_form(version.schema) != definition:
            raise RegistryAnswerError(
                f"the registry answered the registration of a version of {name} with version "
                f"{version.key}, which has another definition"
            )
        if version.status is VersionStatus.DELETING:
            raise RegistryUnavailableError(
                f"version {version.number} of schema {name} is being deleted, its definition can "
                "be registered again once it is gone"
            )
        history = self._history(stored.subject)
        below = history.below(version.number)
        if version.status is VersionStatus.FAILURE:
            raise self._refused(version, history, is_new=found is None)
        self._check_agreement(version, history)
        return Registration(version, found is None, below[-1] if below else None)

    def _read_stored(self, name: str, version_id: str) -> StoredVersion:
        """Return the version of a schema whose id a call has returned."""
        return self._read_final(version_id)

    def _await_stored(self, name: str, version_id: str) -> StoredVersion:
        """Return a version of a schema; a replica of the registry may not have it yet."""
        for _ in self._pending:
            with suppress(SchemaNotFoundError):
                return self._read_stored(name, version_id)
        raise RegistryUnavailableError(
            f"the registry has schema version {version_id} of {name} but does not find it after "
            f"{self._pending.total_seconds:g} s"
        )

    def _store(self, name: str, definition: str) -> str:
        for _ in range(2):
            try:
                return self._add(name, definition)
            except SchemaNotFoundError:
                created = self._create(name, definition)
            if created is not None:
                return created
        raise RegistryUnavailableError(
            f"schema {name} can be neither created nor added to, it may be being deleted"
        )

    def _check_new(self, name: str, schema: Schema) -> None:
        """Refuse a schema that breaks a rule before it is stored, because it would keep its number.

        The registry's rule has two readings. A version that one of them accepts is stored, unless
        the registry refused an earlier version by only the other one.
        """
        usable, history = self._list_usable(name), self._history(f"{self._registry}/{name}")
        mode, found = self._read_rule(name, schema, history.available(), self._apply_mode)
        if all(found) or any((name, each) in self._strict for each in self._refusing(found)):
            raise _incompatible(
                f"refuses a new version of schema {name}", mode, found, usable, schema
            )
        history.check_new(name, schema)

    def _apply_mode(self, name: str) -> tuple[Compatibility, int]:
        """Return the mode and the checkpoint of a schema, after setting this program's mode."""
        mode, checkpoint = self._rule(name)
        if self._mode is None or mode is self._mode:
            return mode, checkpoint
        try:
            self._change_mode(name, self._mode, checkpoint)
        except RegistryAccessDeniedError as error:
            _LOG.warning(
                "schema %s keeps the mode %s, expected %s: %s", name, mode, self._mode, error
            )
            return mode, checkpoint
        _LOG.warning("schema %s had the mode %s and has %s now", name, mode, self._mode)
        return self._mode, checkpoint

    def _check_agreement(self, version: SchemaVersion, history: History) -> None:
        try:
            history.check(version)
        except SchemaConflictError:
            try:
                self._mark_refused(str(version.key))
            except RegistryError as error:
                # The metadata is for people only; every program refuses the version without it.
                _LOG.warning("version %s is refused but not marked so: %s", version.key, error)
            raise

    def _refused(self, version: SchemaVersion, history: History, *, is_new: bool) -> RegistryError:
        """Return the error for a version that the registry refused, with likely reasons.

        The registry finds it by its definition ever after, also once its rule would accept it.
        """
        below, available = history.below(version.number), history.available()
        earlier = {number: available[number] for number in available if number < version.number}
        mode, found = self._read_rule(version.name, version.schema, earlier)
        if not all(found):
            self._strict.update((version.name, each) for each in self._refusing(found))
        what = f"has refused version {version.number} of schema {version.name}"
        if mode is not None and not is_new:
            self._check_new(version.name, version.schema)
            return SchemaRefusedError(
                f"the registry's rule {what} before and does not now: delete version "
                f"{version.number}, which has no records, and send the event again a minute later"
            )
        return _incompatible(what, mode, found, below, version.schema)

    def _read_rule(
        self,
        name: str,
        schema: Schema,
        available: Mapping[int, Schema],
        read: Callable[[str], tuple[Compatibility, int]] | None = None,
    ) -> tuple[Compatibility | None, list[tuple[Incompatibility, ...]]]:
        """Return the mode of a schema, and why each reading of its rule refuses a new version."""
        nothing: list[tuple[Incompatibility, ...]] = [()]
        if not available:
            return None, nothing
        try:
            mode, checkpoint = (read or self._rule)(name)
        except RegistryAccessDeniedError:
            return None, nothing
        return mode, [
            check_rule(schema, available, mode, checkpoint, reading) for reading in self._readings
        ]

    def _refusing(self, found: list[tuple[Incompatibility, ...]]) -> list[ComparedWith]:
        """Return the readings that refuse a version."""
        return [reading for reading, reasons in zip(self._readings, found, strict=False) if reasons]


def _incompatible(
    what: str,
    mode: Compatibility | None,
    found: Iterable[tuple[Incompatibility, ...]],
    earlier: tuple[SchemaVersion, ...],
    schema: Schema,
) -> IncompatibleSchemaError:
    reasons = dict.fromkeys(str(problem) for problems in found for problem in problems)
    return IncompatibleSchemaError(
        f"the registry's rule {mode or '(not readable)'} {what}: "
        f"{'; '.join(reasons) or 'for a reason it does not give'}",
        rule=mode or "",
        diff=_diff(earlier, schema),
    )


def _diff(earlier: tuple[SchemaVersion, ...], schema: Schema) -> str:
    return str(diff_schemas(earlier[-1].schema, schema)) if earlier else ""
