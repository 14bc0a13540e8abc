"""The table of docs/settings.md: each setting once, with the programs that read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jobs.sales.enrichment
import jobs.sales.lake
import jobs.sales.settings
from penstock.consuming import ConsumerSettings
from penstock.extensions.cdc.spark import CdcSettings
from penstock.extensions.drift import SyncSettings, TableSettings
from penstock.extensions.quality import QualitySettings, ScheduleSettings, TopicSettings
from penstock.extensions.staging import RetrySettings
from penstock.extensions.staging.spark import StageSettings
from penstock.extensions.trace import TraceSettings
from penstock.kafka import KafkaSettings
from penstock.operations import ProduceSettings, ReadSettings, StatusSettings
from penstock.producing import IntakeSettings
from penstock.settings import SettingRow, Settings, describe_settings
from penstock.sinks import FunctionLeaseSettings, SelectionSettings
from penstock.spark import ConsumeSettings, MaintainSettings, ReplaySettings

# By the names that docs/settings.md explains. The first program of a setting gives its meaning.
PROGRAMS: Mapping[str, Sequence[type[Settings]]] = {
    "consume": (ConsumeSettings,),
    "replay": (ReplaySettings,),
    "maintain_lake": (MaintainSettings,),
    "cdc": (CdcSettings,),
    "consumer": (ConsumerSettings,),
    "producer": (IntakeSettings,),
    "access": (KafkaSettings,),
    "produce": (ProduceSettings,),
    "read": (ReadSettings,),
    "errors": (SelectionSettings,),
    "status": (StatusSettings,),
    "staging": (StageSettings, RetrySettings, FunctionLeaseSettings),
    "quality": (QualitySettings, TopicSettings, ScheduleSettings, FunctionLeaseSettings),
    "trace": (TraceSettings, KafkaSettings),
    "drift": (TableSettings, SyncSettings, FunctionLeaseSettings),
    "sales": (
        jobs.sales.settings.ProduceSettings,
        jobs.sales.settings.StreamSettings,
        jobs.sales.enrichment.ArtifactSettings,
        jobs.sales.lake.LakeSettings,
        jobs.sales.lake.LakeStreamSettings,
    ),
}
_HEAD = "| variable | flag | default | used by | meaning |\n| --- | --- | --- | --- | --- |\n"


def settings_table(programs: Mapping[str, Sequence[type[Settings]]]) -> str:
    """Return a table with a row for each setting of some programs, by its variable."""
    uses: dict[str, list[tuple[str, SettingRow]]] = {}
    for program, classes in programs.items():
        for row in (row for each in classes for row in describe_settings(each)):
            uses.setdefault(row.variable, []).append((program, row))
    return _HEAD + "".join(_table_row(variable, each) for variable, each in uses.items())


def _table_row(variable: str, uses: Sequence[tuple[str, SettingRow]]) -> str:
    flags = dict.fromkeys(f"`{row.flag}`" for _, row in uses)
    defaults = [*dict.fromkeys(_default(row.default) for _, row in uses)]
    if len(defaults) > 1:
        defaults = [each or "none" for each in defaults]
    used_by = dict.fromkeys(program for program, _ in uses)
    names = (f"`{variable}`", ", ".join(flags), " or ".join(defaults), ", ".join(used_by))
    return f"| {' | '.join(names)} | {uses[0][1].meaning} |\n"


def _default(value: str | None) -> str:
    if value is None:
        return "required"
    return f"`{value}`" if value else ""
