"""Settings of `jobs/cdc.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from penstock.settings import nested, parse_count, setting
from penstock.sinks import DeadLetterSettings
from penstock.spark.settings.consume import LostOffsets, StreamSettings, name_service
from penstock.tables import TABLE

UNAVAILABLE: Final = "__debezium_unavailable_value"
_OUTPUTS: Final = (
    "current_table",
    "current_dynamodb_table",
    "history_table",
    "raw_path",
    "flattened_path",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CdcSettings(StreamSettings):
    """All settings of jobs/cdc.py."""

    dead_letters: DeadLetterSettings = nested(DeadLetterSettings)
    current_table: str = setting(
        "PENSTOCK_CURRENT_TABLE",
        f"Iceberg tables that are equal to the database's, as DATABASE.TABLE with {TABLE} in it",
        default="",
    )
    current_buckets: int = setting(
        "PENSTOCK_CURRENT_BUCKETS",
        "buckets by key of new tables, for tables with keys in no order; 0 for none",
        parse=lambda text: parse_count(text, 0),
        default=0,
    )
    current_dynamodb_table: str = setting(
        "PENSTOCK_CURRENT_DYNAMODB_TABLE",
        f"DynamoDB tables that are equal to the database's, with {TABLE} in it",
        default="",
    )
    history_table: str = setting(
        "PENSTOCK_HISTORY_TABLE",
        f"Iceberg tables with each version of each row, as DATABASE.TABLE with {TABLE} in it",
        default="",
    )
    raw_path: str = setting(
        "PENSTOCK_RAW_PATH", "folder for records as they are, as Parquet files", default=""
    )
    flattened_path: str = setting(
        "PENSTOCK_FLATTENED_PATH",
        "folder for records as ExtractNewRecordState flattens them, as Parquet files",
        default="",
    )
    file_records: int = setting(
        "PENSTOCK_FILE_RECORDS",
        "the most records of a file of --raw-path and --flattened-path; a batch begins new files,"
        " so --trigger '60 seconds' ends one after a minute",
        parse=parse_count,
        default=300,
    )
    refined_table: str = setting(
        "PENSTOCK_REFINED_TABLE",
        "Iceberg table with the result of --refined-query, as DATABASE.TABLE",
        default="",
    )
    refined_query: str = setting(
        "PENSTOCK_REFINED_QUERY",
        "a SELECT over lake.DATABASE.TABLE of --current-table, run after each batch with changes"
        " of its tables",
        default="",
    )
    refined_by: str = setting(
        "PENSTOCK_REFINED_BY", "column that partitions --refined-table [none]", default=""
    )
    remembered_days: int = setting(
        "PENSTOCK_REMEMBERED_DAYS",
        "days that the keys of deleted rows are kept, more than records are in Kafka",
        parse=parse_count,
        default=8,
    )
    unavailable_value: str = setting(
        "PENSTOCK_UNAVAILABLE_VALUE",
        "text that stands for values which the log does not have, as the connector's"
        " unavailable.value.placeholder",
        default=UNAVAILABLE,
    )
    service: str = name_service("cdc")

    @property
    def has_tables(self) -> bool:
        """Return whether an output has the rows of the database, and not its records alone."""
        return bool(self.current_table or self.current_dynamodb_table or self.history_table)

    @property
    def may_stop(self) -> bool:
        """Return whether the job stops before a change is lost to tables."""
        return self.has_tables and self.read.on_lost_offsets is LostOffsets.STOP

    def problems(self) -> Iterator[str]:
        """Yield a problem if no output is chosen, or its name is the same for all tables."""
        flags = {each: f"--{each.replace('_', '-')}" for each in _OUTPUTS}
        chosen = {flags[each]: getattr(self, each) for each in _OUTPUTS if getattr(self, each)}
        if not chosen:
            yield f"found no output, expected one of {', '.join(flags.values())}"
        for flag, name in chosen.items():
            if not flag.endswith("-path") and TABLE not in name:
                yield f"{flag} is {name!r}, expected {TABLE} in it, which a topic fills in"
        if bool(self.refined_table) != bool(self.refined_query):
            yield "--refined-table and --refined-query are given together, found one of them"
        if self.refined_table and not self.current_table:
            yield "--refined-table needs --current-table, which its query reads"
