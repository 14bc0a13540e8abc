"""Data quality: a table of the lake against the schemas of its writers and Kafka's offsets."""

from __future__ import annotations

from penstock.extensions.quality.operation import StoredReport, TopicSettings, check_quality
from penstock.extensions.quality.report import (
    Bucket,
    ColumnNulls,
    Day,
    Gap,
    Partition,
    QueryCost,
    Report,
    RuleResult,
    RuleState,
    Version,
)
from penstock.extensions.quality.settings import Limits, QualitySettings, ScheduleSettings, Since
from penstock.extensions.quality.topics import TopicReader

__all__ = [
    "Bucket",
    "ColumnNulls",
    "Day",
    "Gap",
    "Limits",
    "Partition",
    "QualitySettings",
    "QueryCost",
    "Report",
    "RuleResult",
    "RuleState",
    "ScheduleSettings",
    "Since",
    "StoredReport",
    "TopicReader",
    "TopicSettings",
    "Version",
    "check_quality",
]
