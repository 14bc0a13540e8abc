"""Settings of a check: its tables and registries, and the limit of each rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Final

from penstock.registry import backups_setting
from penstock.settings import (
    Settings,
    describe_settings,
    nested,
    parse_count,
    parse_json,
    parse_match,
    parse_names,
    setting,
)

Since = int | date | None
_TABLE: Final = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_MOST_DAYS: Final = 36_500
_count = partial(parse_count, least=0)


def parse_table(text: str) -> str:
    """Return the name of a table, DATABASE.TABLE; raise ValueError for another text."""
    return parse_match(_TABLE, text)


def _parse_tables(text: str) -> tuple[str, ...]:
    return tuple(map(parse_table, parse_names(text)))


def _parse_since(text: str) -> Since:
    if text == "all":
        return None
    if not text.isdigit():
        return date.fromisoformat(text)
    days = parse_count(text)
    if days > _MOST_DAYS:  # a day without its dashes
        raise ValueError(text)
    return days


def _parse_share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


def _parse_shares(text: str) -> Mapping[str, float]:
    pairs = [each.strip().partition("=") for each in text.split(",")]
    if not all(name and equals for name, equals, _ in pairs):
        raise ValueError(text)
    return {name.lower(): _parse_share(share) for name, _, share in pairs}


@dataclass(frozen=True, slots=True)
class Limits(Settings):
    """The limit of each rule; a rule fails when more is found."""

    least_rows: int = setting(
        "PENSTOCK_LEAST_ROWS", "rows that a check must find at least", parse=_count, default=1
    )
    required_nulls: int = setting(
        "PENSTOCK_REQUIRED_NULLS",
        "rows in which a field may be null although the schema of its writer requires it",
        parse=_count,
        default=0,
    )
    null_shares: Mapping[str, float] | None = setting(
        "PENSTOCK_NULL_SHARES",
        "column=share from 0 to 1, separated by commas: the share of rows in which a column may be "
        "null, of the rows whose schema has its field; * for the others that do not begin with _",
        parse=_parse_shares,
        default=None,
    )
    repeated_records: int = setting(
        "PENSTOCK_REPEATED_RECORDS",
        "records that may be in the table again",
        parse=_count,
        default=0,
    )
    missing_offsets: int = setting(
        "PENSTOCK_MISSING_OFFSETS",
        "offsets between the least and the greatest of a partition that may have neither a row nor "
        "a dead letter; without Kafka, tombstones and markers of transactions are among them",
        parse=_count,
        default=0,
    )
    lag_records: int = setting(
        "PENSTOCK_LAG_RECORDS",
        "records of a partition that may be newer than its newest row",
        parse=_count,
        default=10_000,
    )
    late_seconds: int = setting(
        "PENSTOCK_LATE_SECONDS",
        "seconds from the time of an event to Kafka's timestamp after which the event is late",
        parse=_count,
        default=3_600,
    )
    late_share: float = setting(
        "PENSTOCK_LATE_SHARE", "share of late events, from 0 to 1", parse=_parse_share, default=0.01
    )
    future_seconds: int = setting(
        "PENSTOCK_FUTURE_SECONDS",
        "seconds that the time of an event may be after Kafka's timestamp",
        parse=_count,
        default=60,
    )
    future_share: float = setting(
        "PENSTOCK_FUTURE_SHARE",
        "share of events from the future, from 0 to 1",
        parse=_parse_share,
        default=0.0,
    )


@dataclass(frozen=True, slots=True)
class QualitySettings(Settings):
    """The work group, the rows to check, what explains missing offsets, and the limits."""

    workgroup: str = setting("PENSTOCK_WORKGROUP", "work group of Athena that queries the lake")
    since: Since = setting(
        "PENSTOCK_SINCE_DAYS",
        f"days to check before today, at most {_MOST_DAYS}, or a day like 2026-11-21 to begin "
        "with, by the time of events; all for the whole table",
        parse=_parse_since,
        default=7,
    )
    event_days_before: int = setting(
        "PENSTOCK_EVENT_DAYS_BEFORE",
        "days that an event's time may lie before its Kafka timestamp, as for the job that writes "
        "the table",
        parse=parse_count,
        default=30,
    )
    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URLs of the schema registries, separated by spaces; without one, required fields are not "
        "checked",
        default="",
        secret=True,  # it may contain an external id
    )
    registry_backups: tuple[str, ...] = backups_setting()
    errors_tables: tuple[str, ...] = setting(
        "PENSTOCK_ERRORS_TABLES",
        "dead-letter tables of the job that writes the table, separated by commas: a missing "
        "offset with a dead letter is explained",
        parse=parse_names,
        default=(),
    )
    parked_records: str = setting(
        "PENSTOCK_PARKED_RECORDS",
        "table of parked records, DATABASE.TABLE, which explain missing offsets too",
        parse=parse_table,
        default="",
    )
    beside: tuple[str, ...] = setting(
        "PENSTOCK_BESIDE",
        "tables DATABASE.TABLE, separated by commas, with other records of the same topics, as a "
        "job with routes writes them",
        parse=_parse_tables,
        default=(),
    )
    wait_seconds: int = setting(
        "PENSTOCK_WAIT_SECONDS",
        "seconds to wait for the queries of a table, all together",
        parse=parse_count,
        default=1_800,
    )
    limits: Limits = nested(Limits, Limits())

    def problems(self) -> Iterator[str]:
        """Yield a problem if the days lie ahead."""
        if isinstance(self.since, date) and self.since > datetime.now(UTC).date():
            yield f"PENSTOCK_SINCE_DAYS (--since) is {self.since}, expected a day that has begun"

    def begin(self, now: datetime) -> datetime | None:
        """Return the midnight (UTC) from which rows are checked; None for all rows."""
        if self.since is None:
            return None
        today = now.astimezone(UTC).date()
        day = today - timedelta(days=self.since) if isinstance(self.since, int) else self.since
        return datetime.combine(day, time(), UTC)


def _parse_flags(text: str) -> Mapping[str, Mapping[str, str]]:
    tables = parse_json(text)
    if not isinstance(tables, dict):
        raise ValueError(text)
    return {
        parse_table(name): {str(flag): str(value) for flag, value in dict(flags).items()}
        for name, flags in tables.items()
    }


@dataclass(frozen=True, slots=True)
class ScheduleSettings(Settings):
    """The tables that a scheduled check takes, and where their reports go."""

    tables: Mapping[str, Mapping[str, str]] = setting(
        "PENSTOCK_QUALITY_TABLES",
        "a JSON object: for each table DATABASE.TABLE the flags of its check without dashes, which "
        'come before the variables of all, such as {"lake.readings": {"late-share": "0.05"}}; the '
        "function also takes its s3:// URL",
        parse=_parse_flags,
    )
    reports: str = setting("PENSTOCK_REPORTS", "folder or s3:// URL below which reports are stored")

    def problems(self) -> Iterator[str]:
        """Yield the problems of the flags of each table."""
        for table, flags in (self.tables or {}).items():
            known = {row.flag.removeprefix("--") for row in describe_settings(QualitySettings)}
            for flag in sorted(set(flags) - known):
                yield f"PENSTOCK_QUALITY_TABLES: {flag} of {table} is no flag of penstock quality"

    def of_table(
        self, table: str, environ: Mapping[str, str], wait_seconds: int
    ) -> QualitySettings:
        """Return the settings of a table's check, whose queries may take so long at most.

        Raises:
            SettingsError: the settings are not valid; it lists every problem.
        """
        words = [
            word for flag, value in self.tables[table].items() for word in (f"--{flag}", value)
        ]
        found = QualitySettings.from_args(words, environ)
        return replace(found, wait_seconds=min(found.wait_seconds, wait_seconds))
