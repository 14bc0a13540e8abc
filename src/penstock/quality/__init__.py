"""Data quality: a table of the lake against the schemas of its writers and Kafka's offsets."""

from __future__ import annotations

from penstock.quality.athena import Answer, Athena, Row
from penstock.quality.check import TableCheck
from penstock.quality.page import write_page
from penstock.quality.report import (
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
from penstock.quality.settings import (
    Limits,
    QualitySettings,
    ScheduleSettings,
    Since,
    parse_table,
)
from penstock.quality.store import save_report
from penstock.quality.topics import TopicReader

__all__ = [
    "Answer",
    "Athena",
    "Bucket",
    "ColumnNulls",
    "Day",
    "Gap",
    "Limits",
    "Partition",
    "QualitySettings",
    "QueryCost",
    "Report",
    "Row",
    "RuleResult",
    "RuleState",
    "ScheduleSettings",
    "Since",
    "TableCheck",
    "TopicReader",
    "Version",
    "parse_table",
    "save_report",
    "write_page",
]
