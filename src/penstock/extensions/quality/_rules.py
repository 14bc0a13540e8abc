"""The rules: each compares one figure of a report with its limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from penstock.extensions.quality._table import OWN
from penstock.extensions.quality.report import (
    Bucket,
    ColumnNulls,
    Day,
    Gap,
    Partition,
    RuleResult,
    RuleState,
    Version,
)
from penstock.extensions.quality.settings import Limits

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Earlier:
    """Rows of events before the days that are checked, which Kafka received in these days."""

    rows: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """The counts of a check; `has_registry` and `has_kafka` say whether these were asked too."""

    days: tuple[Day, ...]
    columns: tuple[ColumnNulls, ...]
    versions: tuple[Version, ...]
    partitions: tuple[Partition, ...]
    gaps: tuple[Gap, ...]
    lateness: tuple[Bucket, ...]
    earlier: Earlier
    has_registry: bool
    has_kafka: bool

    @property
    def rows(self) -> int:
        """The rows that were checked."""
        return sum(each.rows for each in self.versions)

    @property
    def unknown(self) -> list[Version]:
        """The versions whose schema no registry knows."""
        return [each for each in self.versions if each.problem]


def check_rules(figures: Figures, limits: Limits) -> tuple[RuleResult, ...]:
    """Return the result of each rule."""
    return (
        _check_rows(figures, limits),
        _check_coordinates(figures),
        _check_required(figures, limits),
        _check_shares(figures, limits),
        _check_repeated(figures, limits),
        _check_missing(figures, limits),
        _check_lag(figures, limits),
        _check_late(figures, limits),
        _check_future(figures, limits),
    )


def _check_rows(figures: Figures, limits: Limits) -> RuleResult:
    rows, least = figures.rows, limits.least_rows
    state = RuleState.HOLDS if rows >= least else RuleState.FAILED
    return RuleResult("rows", state, rows, least, f"{rows:,} rows, expected at least {least:,}")


def _check_coordinates(figures: Figures) -> RuleResult:
    found = [each for each in figures.columns if each.column in OWN and each.nulls]
    # A schema id that is null is among the nulls.
    unknown = [each for each in figures.unknown if each.schema_id is not None]
    count = sum(each.nulls for each in found) + sum(each.rows for each in unknown)
    detail = _list_parts(
        [f"{each.column} is null in {each.nulls:,} rows" for each in found]
        + [f"{each.rows:,} rows have no known schema: {each.problem}" for each in unknown]
    )
    return _compare("coordinates", count, 0, detail or "every row has its record's coordinates")


def _check_required(figures: Figures, limits: Limits) -> RuleResult:
    rule, limit = "required-nulls", limits.required_nulls
    if not figures.has_registry:
        return _not_checked(rule, limit, "without a registry, it is unknown what schemas require")
    found = [each for each in figures.columns if each.required_nulls]
    nulls = sum(each.required_nulls or 0 for each in found)
    detail = _list_parts(
        f"{each.column} is null in {each.required_nulls:,} rows whose schema requires it"
        for each in found
    )
    detail = detail or "no required field is null"
    unknown = sum(each.rows for each in figures.unknown)
    if 0 < unknown == figures.rows:
        return _not_checked(rule, limit, "no row has a known schema")
    if unknown:
        detail += f"; {unknown:,} rows have no known schema"
    return _compare(rule, nulls, limit, detail)


def _check_shares(figures: Figures, limits: Limits) -> RuleResult:
    rule, shares = "null-share", limits.null_shares or {}
    named = {each.column.lower(): each for each in figures.columns}
    if not shares:
        return _not_checked(rule, None, "no column has a limit (--null-shares)")
    missing = sorted(set(shares) - set(named) - {"*"})
    over = [
        (each, limit)
        for name, each in named.items()
        if (limit := shares.get(name, None if name.startswith("_") else shares.get("*")))
        is not None
        and each.share > limit
    ]
    detail = _list_parts(
        [f"there is no column {name}" for name in missing]
        + [f"{each.column} is null in {each.share:.2%}, limit {limit:.2%}" for each, limit in over]
    )
    return _compare(rule, len(over) + len(missing), 0, detail or "no column is null too often")


def _check_repeated(figures: Figures, limits: Limits) -> RuleResult:
    found = [each for each in figures.partitions if each.repeated_records]
    count = sum(each.repeated_records for each in found)
    detail = _list_parts(
        f"{each} has {each.repeated_records:,} records again, the first at {each.first_repeated}"
        for each in found
    )
    return _compare(
        "repeated-records", count, limits.repeated_records, detail or "no record is there again"
    )


def _check_missing(figures: Figures, limits: Limits) -> RuleResult:
    count = sum(each.unexplained for each in figures.partitions)
    gaps = _list_parts(
        f"{each.topic}/{each.partition} lacks {each.first_offset} to {each.last_offset}"
        for each in figures.gaps
    )
    explained = sum(each.missing_offsets for each in figures.partitions) - count
    unread = sum(each.unread for each in figures.partitions)
    detail = gaps or ("no run is listed" if count else "every offset has a row or is explained")
    if unread:
        detail += f"; {unread:,} offsets were not looked up, as there are too many"
    if explained:
        detail += f"; {explained:,} offsets without a row are explained"
    return _compare("missing-offsets", count, limits.missing_offsets, detail)


def _check_lag(figures: Figures, limits: Limits) -> RuleResult:
    rule, limit = "lag", limits.lag_records
    if not figures.has_kafka:
        return _not_checked(rule, limit, "Kafka was not asked (--kafka)")
    if not figures.partitions:
        return _not_checked(rule, limit, "no partition has a row")
    again = [each for each in figures.partitions if each.lag is None]
    if again:
        detail = _list_parts(
            f"{each} was created again or shortened: it ends at {each.end_offset}, and a row has "
            f"{each.last_offset}"
            for each in again
        )
        return RuleResult(rule, RuleState.FAILED, None, limit, detail)
    known = [(each, each.lag or 0) for each in figures.partitions]
    behind = [(each, lag) for each, lag in known if lag > limit]
    detail = _list_parts(f"{each} has {lag:,} newer records" for each, lag in behind)
    most = max(lag for _, lag in known)
    return _compare(rule, most, limit, detail or f"at most {most:,} records are newer than a row")


def _check_late(figures: Figures, limits: Limits) -> RuleResult:
    earlier = figures.earlier
    late = sum(each.late for each in figures.days) + earlier.late
    rows = figures.rows + earlier.rows
    detail = f"{late:,} of {rows:,} events are older than {limits.late_seconds:,} s"
    if earlier.late:
        detail += f", {earlier.late:,} of them of days before those checked"
    return _compare("late-events", _divide(late, rows), limits.late_share, detail)


def _check_future(figures: Figures, limits: Limits) -> RuleResult:
    future = sum(each.future for each in figures.days)
    detail = (
        f"{future:,} of {figures.rows:,} events are more than {limits.future_seconds:,} s ahead of "
        "Kafka"
    )
    return _compare("future-events", _divide(future, figures.rows), limits.future_share, detail)


def _divide(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def _compare(rule: str, found: float, limit: float, detail: str) -> RuleResult:
    state = RuleState.FAILED if found > limit else RuleState.HOLDS
    return RuleResult(rule, state, found, limit, detail)


def _not_checked(rule: str, limit: float | None, why: str) -> RuleResult:
    return RuleResult(rule, RuleState.NOT_CHECKED, None, limit, why)


def _list_parts(parts: Iterable[str]) -> str:
    """Join the first parts, and say how many more there are."""
    listed: Sequence[str] = list(parts)
    return "; ".join(_shorten(listed))


def _shorten(parts: Sequence[str]) -> Iterator[str]:
    yield from parts[:_SHOWN]
    if len(parts) > _SHOWN:
        yield f"{len(parts) - _SHOWN:,} more"
