"""Settings of a consumer."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.records import READING, RowShape
from penstock.registry import RegistrySettings
from penstock.settings import nested, parse_switch, setting
from penstock.sinks import DeadLetterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(DeadLetterSettings):
    """The registries to read, the tables to write, and the form of the mapping's response."""

    schemas: RegistrySettings = nested(RegistrySettings)
    readings_table: str = setting("PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows")
    partial_answers: bool = setting(
        "PENSTOCK_PARTIAL_ANSWERS",
        "true if the event source mapping has ReportBatchItemFailures, else false",
        parse=parse_switch,
        # A mapping that ignores the response would count held records as processed.
        default=False,
    )
    shape: RowShape = nested(RowShape, READING)
