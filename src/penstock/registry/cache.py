"""A cache over a schema registry; a cached answer needs no call."""

from __future__ import annotations

import logging
import marshal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from penstock.errors import (
    IncompatibleSchemaError,
    PenstockError,
    RegistryError,
    SchemaConflictError,
    SchemaRefusedError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry._validation import write_definition
from penstock.registry.interface import Registration, SchemaRegistry, SchemaVersion
from penstock.schemas import Schema

_Answer = TypeVar("_Answer")
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """The capacity of a cache, and the lifetime of its entries that can change.

    A version found by its id never changes, so it is cached until it is evicted. Errors (unknown,
    forbidden, contradicting) have a capacity of their own, so they never evict versions.
    """

    versions: int = 1_000
    refusals: int = 10_000
    refusal_seconds: float = 60
    fresh_seconds: float = 30


@dataclass(frozen=True, slots=True)
class _Listing:
    """The usable versions of a schema, and the time until which the list is fresh."""

    versions: tuple[SchemaVersion, ...]
    fresh_until: float
    keys: frozenset[SchemaKey]


class _LruMap(Generic[_Key, _Value]):
    """The most recently used entries, up to a capacity; safe to share between threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value of a key and mark it as just used, or return None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def put(self, key: _Key, value: _Value) -> None:
        """Store a value; above the capacity, the least recently used entry is evicted."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)


class _SingleFlight:
    """Lets the first thread that asks for a key make the call; the others wait for its result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[Any]] = {}

    def run(self, key: Hashable, call: Callable[[], _Answer]) -> tuple[_Answer, bool]:
        """Return the result and whether this thread made the call.

        An error of the call is raised in all waiting threads. A call must not ask for its own
        key: it would wait for itself.
        """
        with self._lock:
            outcome = self._under_way.get(key)
            leads = outcome is None
            if outcome is None:
                outcome = self._under_way[key] = Future()
        if not leads:
            return outcome.result(), False
        try:
            result = call()
        except BaseException as error:
            self._land(key)
            outcome.set_exception(error)
            raise
        self._land(key)
        outcome.set_result(result)
        return result, True

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._under_way[key]


class CachedRegistry:
    """A bounded cache over any registry.

    Threads that ask the same question at once share one call. Cached versions are also returned
    while the registry is down.
    """

    def __init__(
        self,
        registry: SchemaRegistry,
        *,
        limits: CacheLimits = CacheLimits(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry = registry
        self._limits = limits
        self._clock = clock
        self._versions = _LruMap[SchemaKey, SchemaVersion](limits.versions)
        self._listings = _LruMap[str, _Listing](limits.versions)
        self._by_value = _LruMap[tuple[str, bytes], Registration](limits.versions)
        self._by_form = _LruMap[tuple[str, str], Registration](limits.versions)
        self._refusals = _LruMap[Hashable, tuple[float, PenstockError]](limits.refusals)
        self._flights = _SingleFlight()

    @property
    def kind(self) -> FrameKind:
        """The kind of frames whose schemas are in this registry."""
        return self._registry.kind

    @property
    def source(self) -> str:
        """The registry's URL with its allow-list, without secrets."""
        return self._registry.source

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key."""
        found = self._versions.get(key)
        return found or self._call_registry(key, lambda: self._fetch(key))[0]

    def latest(self, name: str) -> SchemaVersion | None:
        """Return the newest usable version of a schema, from `versions`."""
        versions = self.versions(name)
        return versions[-1] if versions else None

    def versions(self, name: str) -> tuple[SchemaVersion, ...]:
        """Return the usable versions of a schema, listed at most `fresh_seconds` ago.

        While the registry is down, the last known list is returned.
        """
        listing = self._listings.get(name)
        if listing is None or listing.fresh_until <= self._clock():
            listing = self._call_registry(("versions", name), lambda: self._list_versions(name))[0]
        return listing.versions

    def refresh(self, name: str) -> None:
        """Read the list of a schema's versions now, however fresh the last one is.

        Raises:
            RegistryError: the list cannot be read; the last known list is not used.
        """
        self._keep_list(name, self._registry.versions(name), self._limits.fresh_seconds)

    def register(self, name: str, schema: Schema) -> Registration:
        """Return the usable version with this definition; a new definition is stored first.

        A version that is no longer in the list is registered again. A contradiction is cached as
        long as the list stays the same. A refusal by the rule is not, as the rule may change.
        """
        key = (name, _quick_key(schema))
        known = self._by_value.get(key)
        if known is not None and self._is_listed(name, known):
            return known
        form, listing = (name, write_definition(schema)), self._listings.get(name)
        registration, leads = self._call_registry(
            (form, listing and listing.keys), lambda: self._register(form, schema)
        )
        known = replace(registration, created=False)
        self._by_value.put(key, known)
        return registration if leads else known

    def _call_registry(self, key: Hashable, call: Callable[[], _Answer]) -> tuple[_Answer, bool]:
        """Call once for all threads that ask now, or raise the cached error of the key."""

        def ask() -> _Answer:
            until, error = self._refusals.get(key) or (0.0, None)
            if error is not None and self._clock() < until:
                raise _copy_error(error)
            try:
                return call()
            except PenstockError as error:
                if not error.retriable and not isinstance(error, IncompatibleSchemaError):
                    until = self._clock() + self._limits.refusal_seconds
                    self._refusals.put(key, (until, _copy_error(error)))
                raise

        return self._flights.run(key, ask)

    def _fetch(self, key: SchemaKey) -> SchemaVersion:
        # A call that ended after our first lookup may have cached it.
        found = self._versions.get(key)
        if found is None:
            found = self._registry.get(key)
            self._keep(found)
        return found

    def _keep(self, version: SchemaVersion) -> None:
        """Store a version by its id; the definition of an id never changes.

        A Confluent id names a definition, so schemas share it: the first one stays.

        Raises:
            SchemaRefusedError: it has, as in a registry that was built again.
        """
        known = self._versions.get(version.key)
        if known is not None:
            is_renamed = known.name != version.name
            is_shared = is_renamed and version.key.kind is FrameKind.CONFLUENT
            if known.schema != version.schema or (is_renamed and not is_shared):
                raise SchemaRefusedError(
                    f"{self.source} has another definition or name under {version.key} than "
                    f"before: version {version.number} of {version.name}, formerly version "
                    f"{known.number} of {known.name}; expected one definition for each id"
                )
            if is_shared:
                return
        self._versions.put(version.key, version)

    def _list_versions(self, name: str) -> _Listing:
        listing = self._listings.get(name)
        if listing is not None and self._clock() < listing.fresh_until:
            return listing
        try:
            versions = self._registry.versions(name)
        except RegistryError as error:
            if listing is None or not error.retriable:
                raise
            _LOG.warning("the versions of %s are used as last known: %s", name, error)
            versions = listing.versions
        return self._keep_list(name, versions, self._limits.fresh_seconds)

    def _keep_list(
        self, name: str, versions: tuple[SchemaVersion, ...], fresh_seconds: float
    ) -> _Listing:
        for version in versions:
            self._keep(version)
        fresh_until = self._clock() + fresh_seconds
        listing = _Listing(versions, fresh_until, frozenset(each.key for each in versions))
        self._listings.put(name, listing)
        return listing

    def _register(self, form: tuple[str, str], schema: Schema) -> Registration:
        name, _ = form
        known = self._by_form.get(form)
        if known is not None and self._is_listed(name, known):
            return known
        try:
            registration = self._registry.register(name, schema)
        except (IncompatibleSchemaError, SchemaConflictError):
            self._expire_list(name)  # another producer may have registered a version before
            raise
        self._by_form.put(form, replace(registration, created=False))
        if not self._is_listed(name, registration):
            self._expire_list(name, registration.version)
        self._keep(registration.version)
        return registration

    def _is_listed(self, name: str, registration: Registration) -> bool:
        """Return whether the list has a version; without a list, every version counts."""
        listing = self._listings.get(name)
        return listing is None or registration.version.key in listing.keys

    def _expire_list(self, name: str, *more: SchemaVersion) -> None:
        listing = self._listings.get(name)
        if listing is not None:
            versions = sorted([*listing.versions, *more], key=lambda each: each.number)
            self._keep_list(name, tuple(versions), 0)


def _quick_key(schema: Schema) -> bytes:
    """Return a fast cache key, equal for equal values; the canonical form takes 20 times longer."""
    try:
        # Later versions of marshal write references, which depend on how the value was built.
        return marshal.dumps(schema, 0)
    except ValueError:  # too deep for marshal, of classes it does not know, or not a schema
        return write_definition(schema).encode()


def _copy_error(error: PenstockError) -> PenstockError:
    """Return an equal error without traceback; an error that is raised often would grow it."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    return twin
