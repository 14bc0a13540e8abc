"""The result of a check, and its JSON, whose form docs/quality.md describes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

FORMAT: Final = 1  # of the JSON; a reader of one format understands added fields
_SNAKE: Final = re.compile(r"_([a-z])")


class RuleState(StrEnum):
    """Whether a rule holds."""

    HOLDS = "holds"
    FAILED = "failed"
    NOT_CHECKED = "not-checked"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule with the figure found, the limit, and the place; `found` is None if not known."""

    rule: str
    state: RuleState
    found: float | None
    limit: float | None
    detail: str


@dataclass(frozen=True, slots=True)
class Day:
    """The rows of a day of event times."""

    day: str
    rows: int
    late: int
    future: int


@dataclass(frozen=True, slots=True)
class ColumnNulls:
    """A column: the rows that could have a value, and those of them without one.

    `required_nulls` are those whose schema requires a value; None without a registry.
    """

    column: str
    type: str
    rows: int
    nulls: int
    required_nulls: int | None

    @property
    def share(self) -> float:
        """The share of rows without a value."""
        return self.nulls / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Version:
    """A schema version of the rows; `problem` says why its schema is not known."""

    schema_id: str | None
    name: str
    version: int | None
    rows: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition's offsets in the table; a field is None if it was not checked.

    `lag` is None too if the partition does not reach `last_offset` any more.
    `missing_offsets` have no row. `unexplained` are those of them that have neither a dead letter
    nor a row in a table beside it, and that hold a record in Kafka, if Kafka was asked. `unread` of
    these were not looked up, as they were too many.
    """

    topic: str
    partition: int
    rows: int
    first_offset: int
    last_offset: int
    repeated_records: int = 0
    first_repeated: int | None = None
    missing_offsets: int = 0
    dead_letters: int | None = None
    tombstones: int | None = None
    no_records: int | None = None
    unexplained: int = 0
    unread: int = 0
    end_offset: int | None = None
    lag: int | None = None

    def __str__(self) -> str:
        """Return `topic/partition`."""
        return f"{self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets of a partition that nothing explains, from the first to the last."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """Rows whose event is older than Kafka's timestamp by seconds in a range; None is no bound."""

    from_seconds: float | None
    to_seconds: float | None
    rows: int


@dataclass(frozen=True, slots=True)
class QueryCost:
    """A query of Athena and what it cost."""

    id: str
    scanned_bytes: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check of a table."""

    table: str
    checked_at: datetime
    since: datetime | None
    rows: int
    rules: tuple[RuleResult, ...]
    days: tuple[Day, ...]
    columns: tuple[ColumnNulls, ...]
    versions: tuple[Version, ...]
    partitions: tuple[Partition, ...]
    gaps: tuple[Gap, ...]
    lateness: tuple[Bucket, ...]
    queries: tuple[QueryCost, ...]

    @property
    def failed(self) -> tuple[RuleResult, ...]:
        """The rules that failed."""
        return tuple(each for each in self.rules if each.state is RuleState.FAILED)

    def to_json(self) -> dict[str, Any]:
        """Return the report as an object for JSON, with keys in camel case."""
        written: dict[str, Any] = _camel(asdict(self))
        written["checkedAt"] = self.checked_at.isoformat(timespec="seconds")
        written["since"] = self.since and self.since.isoformat(timespec="seconds")
        return {"format": FORMAT, "failed": len(self.failed), **written}


def _camel(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            _SNAKE.sub(lambda found: found[1].upper(), name): _camel(each)
            for name, each in value.items()
        }
    return [_camel(each) for each in value] if isinstance(value, tuple | list) else value
