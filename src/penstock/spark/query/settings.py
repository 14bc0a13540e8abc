"""Settings of the jobs that consume and replay: `jobs/consume.py` and `jobs/replay.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.registry import RegistrySettings
from penstock.settings import Settings, nested, parse_count, setting
from penstock.sinks import DEFAULT_KEEP_DAYS, SelectionSettings
from penstock.spark.settings.consume import StreamSettings, name_service
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.kinds import load_kinds
from penstock.spark.sinks.settings import SinkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeSettings(StreamSettings):
    """All settings of jobs/consume.py."""

    sinks: SinkSettings = nested(SinkSettings)
    service: str = name_service("consume")


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
        """Yield a problem for a sink without replays, or without the checkpoint of its job."""
        for name, each in self.sinks.chosen.items():
            kind, (flag, where) = load_kinds()[name], next(iter(each.names.items()))
            if kind.open_replayed is None:
                yield f"{flag} is {where}, expected a sink with open_replayed: {name} has none"
            elif kind.open_replayed is not kind.open and not self.consume_checkpoint:
                yield (
                    f"--consume-checkpoint is missing, expected that of the job that writes {where}"
                )
