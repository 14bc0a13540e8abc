"""The check of one table: a few queries, then the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from penstock.aws import Athena, QueryAnswer, QueryRow
from penstock.errors import OperationError, PenstockError
from penstock.extensions.quality._offsets import (
    explain,
    find_dead_letters,
    read_gaps,
    read_place,
)
from penstock.extensions.quality._rules import Earlier, Figures, check_rules
from penstock.extensions.quality._sql import (
    BOUNDS,
    DAYS,
    PARTITIONS,
    VERSIONS,
    Place,
    Span,
    Window,
    write_coordinates,
    write_gaps,
    write_parked,
    write_profile,
)
from penstock.extensions.quality._table import OWN, Column, ColumnPath, Fields, list_columns
from penstock.extensions.quality.report import (
    Bucket,
    ColumnNulls,
    Day,
    Gap,
    Partition,
    QueryCost,
    Report,
    Version,
)
from penstock.extensions.quality.settings import QualitySettings
from penstock.extensions.quality.topics import TopicReader
from penstock.framing import SchemaKey
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import Registries, SchemaVersion, load_registries
from penstock.schemas import list_fields, list_required

_MOST_SHOWN_GAPS: Final = 100


@dataclass(frozen=True, slots=True)
class _Profile:
    """The rows of the profile by their kind, with the counts of all columns."""

    days: list[QueryRow]
    partitions: list[QueryRow]
    versions: list[QueryRow]
    # By schema id and column, the rows with a value.
    values: dict[str | None, dict[ColumnPath, int]]


class TableCheck:
    """A check of a table; `kafka` is None where Kafka cannot be asked."""

    def __init__(
        self,
        settings: QualitySettings,
        table: str,
        athena: Athena | None = None,
        registries: Registries | None = None,
        kafka: TopicReader | None = None,
    ) -> None:
        self._settings = settings
        self._table = table
        wait = settings.wait_seconds
        self._athena = athena or Athena(settings.workgroup, wait, total_seconds=wait)
        has_registry = settings.registry or settings.registry_backups
        if registries is None and has_registry:
            registries = load_registries(settings.registry, settings.registry_backups)
        self._registries = registries
        self._kafka = kafka
        self._costs: list[QueryCost] = []
        self._report_progress: ReportProgress = ignore_progress

    def run(self, now: datetime | None = None, report: ReportProgress = ignore_progress) -> Report:
        """Run the check and return its report; `report` is called with the query that it waits for.

        Raises:
            OperationError: there is no such table, it is not one of Penstock's, or a query fails.
            SinkAccessDeniedError, SinkUnavailableError: Athena, Glue or the dead-letter tables
                deny a call, or do not answer.
            RegistryError: a registry denies a call, does not answer, or gives a wrong answer.
            BrokerError: Kafka was to be asked, and cannot be.
        """
        now = now or datetime.now(UTC)
        self._report_progress = report
        since = self._settings.begin(now)
        earliest = since and since - timedelta(days=self._settings.event_days_before)
        window = Window(self._table, since, earliest)
        columns = self._list_columns()
        profile = self._profile(window, columns)
        versions, schemas = self._find_versions(profile.versions)
        partitions, earlier = self._count_offsets(window, profile.partitions)
        partitions, gaps = self._explain(window, partitions)
        figures = Figures(
            days=tuple(map(_read_day, sorted(profile.days, key=lambda row: row["day"] or ""))),
            columns=tuple(_count_nulls(columns, profile.values, versions, schemas)),
            versions=versions,
            partitions=self._measure_lag(partitions),
            gaps=gaps,
            lateness=_read_buckets(profile.days),
            earlier=earlier,
            has_registry=self._registries is not None,
            has_kafka=self._kafka is not None,
        )
        return self._report(now, since, figures)

    def _report(self, now: datetime, since: datetime | None, figures: Figures) -> Report:
        return Report(
            table=self._table,
            checked_at=now,
            since=since,
            rows=figures.rows,
            rules=check_rules(figures, self._settings.limits),
            days=figures.days,
            columns=figures.columns,
            versions=figures.versions,
            partitions=figures.partitions,
            gaps=figures.gaps[:_MOST_SHOWN_GAPS],
            lateness=figures.lateness,
            queries=tuple(self._costs),
        )

    def _list_columns(self) -> tuple[Column, ...]:
        columns = list_columns(self._athena.find_table(self._table))
        lacking = sorted(set(OWN) - {each.name for each in columns})
        if lacking:
            raise OperationError(
                f"found no column {', '.join(lacking)} in {self._table}, expected a table that a "
                "job of Penstock writes"
            )
        return columns

    def _run_query(self, sql: str) -> QueryAnswer:
        self._report_progress(f"Athena answers query {len(self._costs) + 1}", None, None)
        answer = self._athena.ask(sql, self._table.partition(".")[0])
        self._costs.append(QueryCost(answer.id, answer.scanned_bytes, answer.milliseconds))
        return answer

    def _profile(self, window: Window, columns: Sequence[Column]) -> _Profile:
        limits = self._settings.limits
        profile = _Profile([], [], [], defaultdict(dict))
        kinds = {DAYS: profile.days, PARTITIONS: profile.partitions, VERSIONS: profile.versions}
        queries = write_profile(
            window, columns, 1_000 * limits.late_seconds, 1_000 * limits.future_seconds
        )
        counted = iter(columns)
        for number, sql in enumerate(queries):
            rows = self._run_query(sql).rows
            names = [name for name in rows[0] if name[0] == "v"] if rows else []
            paths = [next(counted).path for _ in names]
            for row in rows:
                if number == 0:
                    kinds[int(row["kind"] or 0)].append(row)
                if int(row["kind"] or 0) == VERSIONS:
                    values = profile.values[row["schema_id"]]
                    for name, path in zip(names, paths, strict=True):
                        values[path] = values.get(path, 0) + int(row[name] or 0)
        return profile

    def _find_versions(
        self, rows: Iterable[QueryRow]
    ) -> tuple[tuple[Version, ...], dict[str | None, SchemaVersion]]:
        """Return the versions of the rows, and the schemas of those that a registry knows."""
        found, schemas = [], {}
        for row in sorted(
            rows, key=lambda row: (row["schema_version"] or "", row["schema_id"] or "")
        ):
            schema_id = row["schema_id"]
            number = row["schema_version"]
            version = Version(schema_id, "", int(number) if number else None, int(row["n"] or 0))
            if self._registries is not None:
                try:
                    known = self._registries.find(SchemaKey.parse(schema_id or ""))
                    schemas[schema_id] = known
                    version = replace(version, name=known.name)
                except (PenstockError, ValueError) as error:
                    # An error without a reason is the registry's and not the record's.
                    if isinstance(error, PenstockError) and error.reason is None:
                        raise
                    version = replace(version, problem=str(error))
            found.append(version)
        return tuple(found), schemas

    def _count_offsets(
        self, window: Window, rows: Iterable[QueryRow]
    ) -> tuple[tuple[Partition, ...], Earlier]:
        spans = {
            read_place(row): Span(int(row["first_offset"] or 0), int(row["last_offset"] or 0))
            for row in rows
            if row["first_offset"] is not None and row["topic"] is not None and row["part"]
        }
        if not spans and not window.since:
            return (), Earlier()
        sql = write_coordinates(window, spans, 1_000 * self._settings.limits.late_seconds)
        found = sorted(self._run_query(sql).rows, key=read_place)
        return (
            tuple(
                _read_partition(row, spans[read_place(row)].least)
                for row in found
                if row["last_offset"] is not None
            ),
            Earlier(*(sum(int(row[name] or 0) for row in found) for name in ("earlier", "late"))),
        )

    def _explain(
        self, window: Window, partitions: tuple[Partition, ...]
    ) -> tuple[tuple[Partition, ...], tuple[Gap, ...]]:
        spans = {
            (each.topic, each.partition): Span(each.first_offset, each.last_offset)
            for each in partitions
            if each.missing_offsets
        }
        if not spans:
            return partitions, ()
        settings = self._settings
        # A table that no job has written yet has no records.
        beside = filter(self._athena.has_table, settings.beside)
        missing = read_gaps(self._run_query(write_gaps(window, beside, spans)).rows)
        dead: dict[Place, set[int]] | None = None
        if settings.errors_tables or settings.parked_records:
            dead = defaultdict(set, find_dead_letters(settings.errors_tables))
        if dead is not None and settings.parked_records:
            for row in self._run_query(write_parked(settings.parked_records, spans)).rows:
                dead[read_place(row)].add(int(row["offset"] or 0))
        self._report_progress("missing offsets are looked up", None, None)
        return explain(partitions, missing, dead, self._kafka)

    def _measure_lag(self, partitions: tuple[Partition, ...]) -> tuple[Partition, ...]:
        if self._kafka is None:
            return partitions
        ends = self._kafka.read_ends({each.topic for each in partitions})
        return tuple(
            replace(each, end_offset=end, lag=lag if lag >= 0 else None)
            for each in partitions
            for end in [ends.get((each.topic, each.partition), 0)]
            for lag in [end - each.last_offset - 1]
        )


def _read_day(row: QueryRow) -> Day:
    return Day(row["day"] or "", *(int(row[name] or 0) for name in ("n", "late", "future")))


def _read_buckets(days: Sequence[QueryRow]) -> tuple[Bucket, ...]:
    bounds = [None, *(bound / 1_000 for bound in BOUNDS), None]
    return tuple(
        Bucket(low, high, sum(int(row[f"d{at}"] or 0) for row in days))
        for at, (low, high) in enumerate(pairwise(bounds))
    )


def _read_partition(row: QueryRow, first: int) -> Partition:
    topic, partition = read_place(row)
    last = int(row["last_offset"] or 0)
    missing = last - first + 1 - int(row["offsets"] or 0)
    return Partition(
        topic,
        partition,
        int(row["n"] or 0),
        first,
        last,
        repeated_records=int(row["repeated"] or 0),
        first_repeated=int(row["first_repeated"]) if row["first_repeated"] else None,
        missing_offsets=missing,
        unexplained=missing,
    )


def _count_nulls(
    columns: Sequence[Column],
    values: Mapping[str | None, Mapping[ColumnPath, int]],
    versions: Sequence[Version],
    schemas: Mapping[str | None, SchemaVersion],
) -> Iterator[ColumnNulls]:
    """Yield the nulls of each column, of the rows whose schema has its field."""
    fields = Fields(columns)
    rows = {each.schema_id: each.rows for each in versions}
    having: dict[ColumnPath, set[str | None]] = defaultdict(set)
    required: dict[ColumnPath, set[str | None]] = defaultdict(set)
    for schema_id, version in schemas.items():
        for name in list_fields(version.schema):
            if column := fields.find((name,)):
                having[column.path].add(schema_id)
        for path in list_required(version.schema):
            if column := fields.find(path):
                required[column.path].add(schema_id)

    def count(column: Column, ids: Iterable[str | None]) -> tuple[int, int]:
        """Return the rows that could have a value, and those without one."""
        above = column.path[:-1]
        own = [(values[each].get(above, rows[each]) if above else rows[each], each) for each in ids]
        could = sum(number for number, _ in own)
        # Rows may be added between two queries.
        return could, max(0, could - sum(values[each].get(column.path, 0) for _, each in own))

    for column in columns:
        unknown = rows.keys() - schemas.keys()
        ids = rows.keys() if column.is_own else having[column.path[:1]] | unknown
        could, nulls = count(column, ids)
        lacking = count(column, required[column.path])[1] if schemas else None
        yield ColumnNulls(column.name, column.type, could, nulls, lacking)
