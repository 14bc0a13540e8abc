"""Settings of the sinks of a job, and of its lease."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from penstock.errors import SettingsError
from penstock.records import READING, RowShape
from penstock.settings import Settings, nested, parse_count, setting
from penstock.sinks import DeadLetterSettings
from penstock.tables import TABLE, parse_route

_TABLED: Final = ("dynamodb_table", "lake_table", "parquet_path", "parquet_table")
_SHAPE: Final = re.compile(r"(?P<table>[a-z0-9_]+)\.(?P<flag>[a-z-]+)=(?P<value>.+)")
_CATALOG: Final = re.compile(r"[a-z0-9_{}]+\.[a-z0-9_{}]+")


def _parse_shapes(text: str) -> tuple[tuple[str, RowShape], ...]:
    names = {field.name.replace("_", "-"): field.name for field in fields(RowShape)}
    flags: dict[str, dict[str, str]] = {}
    for word in text.split(";"):
        match = _SHAPE.fullmatch(word.strip())
        if match is None or match["flag"] not in names:
            raise ValueError(text)
        flags.setdefault(match["table"], {})[names[match["flag"]]] = match["value"]
    try:
        return tuple(
            (table, RowShape.from_flags(Namespace(**given), {})) for table, given in flags.items()
        )
    except SettingsError as error:
        raise ValueError(str(error)) from error


def parse_positive(text: str) -> float:
    """Return a number above 0.

    Raises:
        ValueError: the text is not such a number.
    """
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


@dataclass(frozen=True, slots=True)
class SinkSettings(DeadLetterSettings):
    """The sinks for rows, and for records that are given up."""

    dynamodb_table: str = setting(
        "PENSTOCK_READINGS_TABLE", "DynamoDB table for the rows", default=""
    )
    dynamodb_rows_per_second: float | None = setting(
        "PENSTOCK_DYNAMODB_ROWS_PER_SECOND",
        "limit of rows per second written to DynamoDB, a number above 0 [no limit]",
        parse=parse_positive,
        default=None,
    )
    lake_table: str = setting(
        "PENSTOCK_LAKE_TABLE", "Iceberg table for the rows, as DATABASE.TABLE", default=""
    )
    parquet_path: str = setting(
        "PENSTOCK_PARQUET_PATH",
        "folder for rows as plain Parquet files, for readers that do not support Iceberg",
        default="",
    )
    parquet_table: str = setting(
        "PENSTOCK_PARQUET_TABLE",
        "Glue table of the files of --parquet-path, as DATABASE.TABLE; the job creates it and adds"
        " columns and partitions",
        default="",
    )
    event_days_before: int = setting(
        "PENSTOCK_EVENT_DAYS_BEFORE",
        "days that an event's time may lie before its Kafka timestamp, a number from 1; otherwise"
        " `_event_time` is the Kafka timestamp",
        parse=parse_count,
        default=30,
    )
    shape: RowShape = nested(RowShape, READING)
    route: tuple[tuple[str, str], ...] = setting(
        "PENSTOCK_ROUTE",
        "schema-name=table, separated by commas, each name and each table once: records go to the"
        f" sinks whose names have that table in place of {TABLE}; records of other"
        " schemas are dead letters",
        parse=parse_route,
        default=(),
    )

    shapes: tuple[tuple[str, RowShape], ...] = setting(
        "PENSTOCK_SHAPES",
        "the shapes of tables of --route that have another than the job: table.flag=value,"
        " separated by semicolons, such as orders.key=orderId;orders.event-time=none",
        parse=_parse_shapes,
        default=(),
    )

    def by_schema(self) -> dict[str, Self]:
        """Return the settings of each route's own table, by schema name."""
        return {
            name: replace(
                self,
                route=(),
                shapes=(),
                shape=dict(self.shapes).get(table, self.shape),
                **{sink: getattr(self, sink).replace(TABLE, table) for sink in _TABLED},
            )
            for name, table in self.route
        }

    def problems(self) -> Iterator[str]:
        """Yield a problem for a missing sink, unsupported tombstones and a name without a route."""
        if "" == self.dynamodb_table == self.lake_table == self.parquet_path:
            yield ("found no sink, expected --dynamodb-table, --lake-table or --parquet-path")
        yield from self._tombstone_problems()
        yield from self._table_problems()
        routed = {table for _, table in self.route or ()}
        for table in dict(self.shapes or ()).keys() - routed:
            yield f"--shapes has the table {table!r}, expected one that --route names"
        for sink in _TABLED:
            flag, name = f"--{sink.replace('_', '-')}", getattr(self, sink)
            if self.route == () and TABLE in name:
                yield f"{flag} is {name!r}, expected --route to say what {TABLE} is"
            elif self.route and name and TABLE not in name:
                yield f"{flag} is {name!r}, expected {TABLE} in it, for --route to fill in"

    def _table_problems(self) -> Iterator[str]:
        """Yield a problem for a Glue table without a database, or whose files are not on S3."""
        table, path = self.parquet_table or "", self.parquet_path or ""
        if table and not _CATALOG.fullmatch(table):
            yield (
                f"--parquet-table is {table!r}, expected DATABASE.TABLE in lower case, digits and _"
            )
        if table and not path.startswith("s3://"):
            yield f"--parquet-path is {path!r}, expected s3://... for --parquet-table"

    def _tombstone_problems(self) -> Iterator[str]:
        """Yield a problem for tombstones that are neither ignored nor can be deletions."""
        can_delete = bool(self.dynamodb_table) and not self.route
        expected = "ignore or delete" if can_delete else "ignore"
        why = (
            "Spark's jobs write no dead letters for tombstones"
            if can_delete
            else "Spark's jobs delete rows of one DynamoDB table without --route; a tombstone names"
            " no schema"
        )
        for shape in (self.shape, *dict(self.shapes or ()).values()):
            if str(shape.tombstone) not in expected.split(" or "):
                yield f"--tombstone is {shape.tombstone}, expected {expected}: {why}"


@dataclass(frozen=True, slots=True)
class LeaseSettings(Settings):
    """The lifetime of a lease without heartbeats, and the interval between heartbeats."""

    lease_seconds: float = setting(
        "PENSTOCK_LEASE_SECONDS",
        "seconds without a heartbeat after which another job may take over, a number above 0",
        parse=parse_positive,
        default=20,
    )
    heartbeat_seconds: float = setting(
        "PENSTOCK_HEARTBEAT_SECONDS",
        "seconds between heartbeats, at most half of a lease",
        parse=parse_positive,
        default=5,
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if a single late heartbeat would end the lease."""
        if not self.heartbeat_seconds or not self.lease_seconds:
            return  # unreadable, and reported already
        if self.heartbeat_seconds > self.lease_seconds / 2:
            yield (
                f"--heartbeat-seconds is {self.heartbeat_seconds:g}, expected at most half of "
                f"--lease-seconds {self.lease_seconds:g}"
            )
