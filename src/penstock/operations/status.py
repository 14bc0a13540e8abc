"""What is open in an account: kept events, dead letters, and how many versions schemas have left.

Counting costs little however much there is: a call for 1,000 kept events, pages of an index that
has open dead letters alone, and each stops at `MOST_COUNTED`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from penstock.attempts import start_call
from penstock.errors import PenstockError, RegistryUnavailableError
from penstock.producing import RejectedEvents
from penstock.registry import SchemaRegistry, SchemaVersion, load_admin, load_registry
from penstock.schemas import measure_definition
from penstock.settings import Settings, setting
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, account_tables_setting

MOST_COUNTED: Final = 10_000
_REGISTRY_SECONDS: Final = 10
_UNLIMITED_SECONDS: Final = 10**6
_Reading = Future[tuple[SchemaVersion, ...]]


class Budget(NamedTuple):
    """The schema that a producer registers versions of, and how many it may have.

    A schema that `grows` has all fields in each next version, whose length is limited too.
    """

    registry: str
    schema: str
    budget: int
    few: int
    grows: bool = False


def _parse_producers(text: str) -> dict[str, Budget | None]:
    try:
        return {
            name: Budget(registry, *given) if given else None
            for registry, functions in json.loads(text).items()
            for name, given in functions.items()
        }
    except (AttributeError, TypeError) as error:
        raise ValueError(text) from error


@dataclass(frozen=True, slots=True)
class StatusSettings(Settings):
    """What is counted in an account; the producer's has no tables, a consumer's no producers."""

    bucket: str = setting(
        "PENSTOCK_REJECTED_BUCKET", "bucket that keeps events that are not written", default=""
    )
    producers: Mapping[str, Budget | None] | None = setting(
        "PENSTOCK_STATUS_PRODUCERS",
        "producer functions by registry and name, as JSON: of each that registers versions, a list:"
        " schema, budget (the most versions), few (fewer left are too few), grows (policy grow)",
        parse=_parse_producers,
        default=None,
        secret=True,  # the URL of a registry may contain an external id
    )
    tables: tuple[str, ...] = account_tables_setting()

    def problems(self) -> Iterator[str]:
        """Yield a problem if there is nothing to count."""
        if (self.bucket, self.tables, self.producers) == ("", (), None):
            yield (
                "found none of PENSTOCK_REJECTED_BUCKET (--bucket), PENSTOCK_STATUS_TABLES"
                " (--tables) and PENSTOCK_STATUS_PRODUCERS (--producers), expected one of them, as"
                " `penstock init` writes it"
            )


@dataclass(frozen=True, slots=True)
class KeptEvents:
    """The number of events that the bucket keeps of a producer function.

    A number is None if it cannot be counted, and at least `MOST_COUNTED` if it is not complete.
    """

    producer: str
    events: int | None = None
    is_complete: bool | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class DeadLetterCount:
    """The open dead letters of a table; those that wait for a row of a join are counted apart.

    If it is not complete, there may be more of them, and an older one.
    """

    table: str
    open: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    oldest_seconds: int | None = None
    waiting: int | None = None
    is_complete: bool | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class VersionsLeft:
    """The number of versions that a schema has left of its budget; fewer than `few` are too few.

    Of a schema that grows, `left` is no larger a share of the budget than the last definition's
    length leaves of the most characters.
    """

    producer: str
    schema: str
    budget: int
    few: int
    left: int | None = None
    problem: str | None = None


class Gauge(NamedTuple):
    """A metric of CloudWatch: its name, unit, value and dimensions."""

    name: str
    unit: str
    value: int
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """The counts of an account."""

    kept_events: tuple[KeptEvents, ...] = ()
    dead_letter_tables: tuple[DeadLetterCount, ...] = ()
    versions_left: tuple[VersionsLeft, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why something cannot be counted."""
        counts: tuple[KeptEvents | DeadLetterCount | VersionsLeft, ...] = (
            *self.kept_events,
            *self.dead_letter_tables,
            *self.versions_left,
        )
        return tuple(each.problem for each in counts if each.problem)

    @property
    def is_open(self) -> bool:
        """Whether events are kept, dead letters are open, or a schema has too few versions left."""
        return (
            any(each.events for each in self.kept_events)
            or any(each.open for each in self.dead_letter_tables)
            or any(each.left is not None and each.left < each.few for each in self.versions_left)
        )

    def list_gauges(self) -> Iterator[Gauge]:
        """Yield the metric of each number; what cannot be counted has none."""
        for kept in self.kept_events:
            if kept.events is not None:
                yield Gauge("KeptEvents", "Count", kept.events, {"FunctionName": kept.producer})
        for each in self.dead_letter_tables:
            if each.open is not None and each.oldest_seconds is not None:
                table = {"Table": each.table}
                yield Gauge("OpenDeadLetters", "Count", each.open, table)
                yield Gauge("OldestDeadLetter", "Seconds", each.oldest_seconds, table)
                for reason, count in each.reasons.items():
                    yield Gauge("OpenDeadLetters", "Count", count, {**table, "Reason": reason})
        for schema in self.versions_left:
            if schema.left is not None:
                names = {"FunctionName": schema.producer, "Schema": schema.schema}
                yield Gauge("VersionsLeft", "Count", schema.left, names)


class StatusReader:
    """Counts what is open; a registry is built once, since it remembers the versions it has read.

    Args:
        settings: what is counted.
        checks_registries: tell a schema that is not there yet from a registry that is not there,
            which takes the right to list all schemas; the scheduled function lacks it.
    """

    def __init__(self, settings: StatusSettings, *, checks_registries: bool = False) -> None:
        self._settings = settings
        self._checks_registries = checks_registries
        self._producers = settings.producers or {}
        self._registries: dict[str, SchemaRegistry] = {}
        self._readings: dict[tuple[str, str], _Reading] = {}

    def read(self) -> Status:
        """Count everything; one that cannot be counted does not keep the others from it."""
        found, left = self.read_open(), self.read_versions(_UNLIMITED_SECONDS)
        return replace(found, versions_left=left.versions_left)

    def read_open(self) -> Status:
        """Count kept events and dead letters."""
        return Status(
            tuple(self._count_events()) if self._settings.bucket else (),
            tuple(map(_count_letters, self._settings.tables)),
        )

    def read_versions(self, seconds: float) -> Status:
        """Count the versions that schemas have left.

        Those of a schema that are not read in this time are read on, for the next call.
        """
        end = time.monotonic() + seconds
        left = [self._count_left(name, each, end) for name, each in self._producers.items() if each]
        return Status(versions_left=tuple(left))

    def _count_events(self) -> Iterator[KeptEvents]:
        """Count the events of the producers, and of others that have events in the bucket."""
        bucket, known = RejectedEvents(self._settings.bucket), self._producers
        try:
            found = bucket.list_producers()
        except PenstockError as error:
            yield from (KeptEvents(name, problem=str(error)) for name in sorted(known) or ["all"])
            return
        for name in sorted({*known, *found}):
            try:
                events = bucket.count(name, MOST_COUNTED) if name in found else 0
                yield KeptEvents(name, events, events < MOST_COUNTED)
            except PenstockError as error:
                yield KeptEvents(name, problem=str(error))

    def _count_left(self, producer: str, schema: Budget, end: float) -> VersionsLeft:
        try:
            versions = self._read_all(schema, end)
            if not versions and self._checks_registries:
                load_admin(schema.registry).list_names()  # raises if the registry is not there
        except PenstockError as error:
            return VersionsLeft(
                producer, schema.schema, schema.budget, schema.few, problem=str(error)
            )
        length = measure_definition(versions[-1].schema) if versions and schema.grows else 0
        room = math.floor(schema.budget * (1 - length))
        left = max(0, min(schema.budget - len(versions), room))
        return VersionsLeft(producer, schema.schema, schema.budget, schema.few, left)

    def _read_all(self, schema: Budget, end: float) -> tuple[SchemaVersion, ...]:
        """Return the versions of a schema, by a reading that may have begun in an earlier call."""
        key = (schema.registry, schema.schema)
        reading = self._readings.pop(key, None) or self._start_reading(schema)
        try:
            return reading.result(max(0, end - time.monotonic()))
        except TimeoutError:
            self._readings[key] = reading
            raise RegistryUnavailableError(
                f"the versions of schema {schema.schema} are not all read in time; the next count "
                "goes on"
            ) from None

    def _start_reading(self, schema: Budget) -> _Reading:
        registry = self._open(schema.registry)
        return start_call(lambda: registry.versions(schema.schema))

    def _open(self, url: str) -> SchemaRegistry:
        if url not in self._registries:
            self._registries[url] = load_registry(url, call_seconds=_REGISTRY_SECONDS)
        return self._registries[url]


def _count_letters(table: str) -> DeadLetterCount:
    try:
        found = ErrorTable(DynamoDbClient(), table, ObjectStore("")).count_open(MOST_COUNTED)
    except PenstockError as error:
        return DeadLetterCount(table, problem=str(error))
    return DeadLetterCount(
        table,
        found.total,
        found.reasons,
        found.oldest_seconds,
        found.waiting,
        found.is_complete,
    )
