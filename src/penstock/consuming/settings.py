"""The settings of a consumer function."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.records import READING, RowShape
from penstock.registry import RegistrySettings
from penstock.settings import nested, parse_switch, setting
from penstock.sinks import DeadLetterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(DeadLetterSettings):
    """The registries to read, the tables to write, and whether a batch may be answered in part."""

    schemas: RegistrySettings = nested(RegistrySettings)
    readings_table: str = setting("PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows")
    partial_answers: bool = setting(
        "PENSTOCK_PARTIAL_ANSWERS",
        "true if the event source mapping has ReportBatchItemFailures, else false",
        parse=parse_switch,
        # Without ReportBatchItemFailures, Lambda would take records to retry for processed ones.
        default=False,
    )
    shape: RowShape = nested(RowShape, READING)
