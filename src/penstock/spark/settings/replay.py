"""Settings of the replay job, `jobs/replay.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from penstock.errors import Reason
from penstock.framing import SchemaKey
from penstock.registry import RegistrySettings
from penstock.settings import Settings, nested, parse_count, parse_moment, setting
from penstock.sinks import DEFAULT_KEEP_DAYS, Selection
from penstock.spark.settings.sinks import LeaseSettings, SinkSettings


class Which(StrEnum):
    """The rows to select among those that are neither done nor parked."""

    OPEN = "open"
    DUE = "due"


def _parse_reasons(text: str) -> frozenset[Reason]:
    return frozenset(Reason(reason.strip()) for reason in text.split(","))


def _parse_ids(text: str) -> frozenset[str]:
    return frozenset(str(SchemaKey.parse(key.strip().lower())) for key in text.split(","))


@dataclass(frozen=True, slots=True)
class SelectionSettings(Settings):
    """The records to retry; a record must match every condition that is given."""

    which: Which = setting(
        "PENSTOCK_WHICH",
        "open for all that are neither done nor parked, or due for those of them that have not"
        " failed within the last hour",
        parse=Which,
        default=Which.OPEN,
    )
    since: datetime | None = setting(
        "PENSTOCK_SINCE",
        "a time like 2026-11-21T08:00:00+00:00, for dead letters from then on",
        parse=parse_moment,
        default=None,
    )
    until: datetime | None = setting(
        "PENSTOCK_UNTIL",
        "a time like 2026-11-21T08:00:00+00:00, for dead letters from before",
        parse=parse_moment,
        default=None,
    )
    reason: frozenset[Reason] = setting(
        "PENSTOCK_REASON",
        f"reasons, separated by commas, of {', '.join(Reason)}",
        parse=_parse_reasons,
        default=frozenset(),
    )
    schema: frozenset[str] = setting(
        "PENSTOCK_SCHEMA",
        "ids of schema versions, as in the rows, separated by commas",
        parse=_parse_ids,
        default=frozenset(),
    )
    attempts: int | None = setting(
        "PENSTOCK_ATTEMPTS",
        "number of failed retries so far, a number from 0",
        parse=partial(parse_count, least=0),
        default=None,
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if --until is not after --since."""
        if self.since and self.until and self.since >= self.until:
            yield f"--until is {self.until}, expected a time after --since {self.since}"

    def select(self, now_s: int) -> Selection:
        """Return the selection to read from the dead-letter table."""
        return Selection(
            _to_ms(self.since),
            _to_ms(self.until),
            self.reason,
            self.schema,
            self.attempts,
            now_s if self.which is Which.DUE else None,
        )


@dataclass(frozen=True, slots=True)
class ReplaySettings(Settings):
    """All settings of jobs/replay.py."""

    sinks: SinkSettings = nested(SinkSettings)
    lease: LeaseSettings = nested(LeaseSettings)
    selection: SelectionSettings = nested(SelectionSettings)
    schemas: RegistrySettings = nested(RegistrySettings)
    consume_checkpoint: str = setting(
        "PENSTOCK_CONSUME_CHECKPOINT",
        "checkpoint of the consuming job, whose schema versions records are decoded with",
        default="",
    )
    keep_settled_days: int = setting(
        "PENSTOCK_KEEP_SETTLED_DAYS",
        "days that a row is kept when it is done or parked, a number from 1",
        parse=parse_count,
        default=DEFAULT_KEEP_DAYS,
    )
    contract: str = setting(
        "PENSTOCK_CONTRACT",
        "path or URL of the file that `make contract` wrote, for the registry",
        default="",
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if a lake table or folder is given without its job's checkpoint."""
        table = self.sinks.lake_table or self.sinks.parquet_path
        if table and not self.consume_checkpoint:
            yield f"--consume-checkpoint is missing, expected that of the job that writes {table}"


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1_000)
