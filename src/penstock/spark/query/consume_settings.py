"""Settings of the consuming job, `jobs/consume.py`."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.settings import nested
from penstock.spark.settings.consume import StreamSettings, name_service
from penstock.spark.sinks.settings import SinkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeSettings(StreamSettings):
    """All settings of jobs/consume.py."""

    sinks: SinkSettings = nested(SinkSettings)
    service: str = name_service("consume")
