"""The readers of schema versions: compiled once, and looked up within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol

from penstock.errors import (
    Failure,
    PenstockError,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
    SchemaNotFoundError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.records import Source
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import compile_event_decoder

_MAX_READERS: Final = 1_000
# Lookups that fail in a batch, each a call of the registry; then one more in each other partition.
_MAX_LOOKUPS: Final = 100
_MAX_COMPILED: Final = 5_000  # in a Python process of an executor, which serves many tables


@dataclass(frozen=True, slots=True)
class SchemaReader:
    """The function from payload to event of a schema version."""

    name: str
    number: int
    read: Callable[[bytes], Any]

    @classmethod
    def of(cls, version: SchemaVersion) -> SchemaReader:
        """Compile the reader of a version."""
        return cls(version.name, version.number, compile_event_decoder(version.schema))


class Schemas(Protocol):
    """Where a `RecordReader` finds the readers of schema keys."""

    def find(self, key: SchemaKey, source: Source) -> SchemaReader | Failure | None:
        """Return the reader of a key, a failure, or None if the key was not looked up yet.

        Raises:
            PenstockError: it cannot be looked up.
        """


@dataclass(slots=True)
class _Failures:
    """The failed lookups of a batch, which are not repeated.

    Errors are copies: the frames of a traceback would keep the payloads of their records alive.
    """

    errors: dict[SchemaKey, PenstockError] = field(default_factory=dict)
    down: dict[FrameKind, PenstockError] = field(default_factory=dict)
    partitions: set[tuple[str, int]] = field(default_factory=set)


class SchemaReaders:
    """Readers that are looked up in registries when their first record comes; for one thread.

    `is_retried` says whether a record whose schema was not looked up is delivered again.
    """

    def __init__(self, registries: Registries, *, is_retried: bool = False) -> None:
        self._registries = registries
        self._is_retried = is_retried
        self._readers: dict[SchemaKey, SchemaReader] = {}
        self._failed = _Failures()

    def begin(self) -> None:
        """Begin a batch: what failed in the last one is looked up again."""
        self._failed = _Failures()

    def find(self, key: SchemaKey, source: Source) -> SchemaReader:
        """Return the reader of a schema key; a batch limits the lookups that fail.

        Raises:
            PenstockError: a registry has no such version, or cannot be asked, or too many lookups
                have failed.
        """
        if reader := self._readers.get(key):
            return reader
        failed, partition = self._failed, (source.topic, source.partition)
        if error := failed.errors.get(key) or failed.down.get(key.kind):
            raise copy(error)
        # A flood of unknown keys in one partition does not stop the others.
        if len(failed.errors) >= _MAX_LOOKUPS and partition in failed.partitions:
            kind = RegistryUnavailableError if self._is_retried else SchemaNotFoundError
            raise kind(
                f"schema {key} was not looked up, since {_MAX_LOOKUPS} others of the batch failed"
            )
        try:
            version = self._registries.find(key)
        except PenstockError as error:
            failed.errors[key] = copy(error)
            failed.partitions.add(partition)
            if isinstance(error, RegistryAccessDeniedError | RegistryUnavailableError):
                failed.down[key.kind] = failed.errors[key]
            raise
        if len(self._readers) == _MAX_READERS:
            del self._readers[next(iter(self._readers))]
        reader = self._readers[key] = SchemaReader.of(version)
        return reader


@dataclass(frozen=True, slots=True)
class KnownSchemas:
    """Versions that were looked up before; sent to Spark's executors.

    Attributes:
        versions: the schema as JSON, the name and the number of each version.
        refused: why versions cannot be used.
        others: why any other version cannot be used; None if it is to be looked up.
    """

    versions: Mapping[SchemaKey, tuple[str, str, int]]
    refused: Mapping[SchemaKey, Failure] = field(default_factory=dict)
    others: Failure | None = None

    def find(self, key: SchemaKey, source: Source) -> SchemaReader | Failure | None:
        """Return the reader of a key, a failure, or None if the key must be looked up."""
        if version := self.versions.get(key):
            return _compile(*version)
        return self.refused.get(key, self.others)


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(schema: str, name: str, number: int) -> SchemaReader:
    return SchemaReader(name, number, compile_event_decoder(json.loads(schema)))
