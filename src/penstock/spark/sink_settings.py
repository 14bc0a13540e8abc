"""Where a job has to be told that its rows go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.settings import Settings, setting


def _parse_rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate < float("inf"):
        raise ValueError(text)
    return rate


@dataclass(frozen=True, slots=True)
class SinkSettings(Settings):
    """Where the rows go, and the records that make none."""

    errors_table: str = setting(
        "PENSTOCK_ERRORS_TABLE", "DynamoDB table of the records that were given up"
    )
    parked_bucket: str = setting(
        "PENSTOCK_PARKED_BUCKET", "bucket for what no row of the table of errors can hold"
    )
    dynamodb_table: str = setting(
        "PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows", default=""
    )
    dynamodb_rows_per_second: float | None = setting(
        "PENSTOCK_DYNAMODB_ROWS_PER_SECOND",
        "the most rows that DynamoDB is given in a second, a number above 0 [no limit]",
        parse=_parse_rate,
        default=None,
    )
    lake_table: str = setting(
        "PENSTOCK_LAKE_TABLE", "Iceberg table for the rows, as DATABASE.TABLE", default=""
    )
    parquet_path: str = setting(
        "PENSTOCK_PARQUET_PATH",
        "folder for the rows as plain Parquet files, for those who must; the lake is safer",
        default="",
    )
    event_time: str = setting(
        "PENSTOCK_EVENT_TIME",
        "field with the time of the event, which the lake is partitioned by",
        default="timestamp",
    )

    def problems(self) -> Iterator[str]:
        """Say whether there is nowhere to write to."""
        if "" == self.dynamodb_table == self.lake_table == self.parquet_path:
            yield (
                "there is nowhere to write to, expected --dynamodb-table, --lake-table or"
                " --parquet-path"
            )
