"""Settings of the sinks of a job, and the tables that they open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

from penstock.records import READING, RowShape, parse_shapes
from penstock.settings import nested, nested_each, parse_count, setting
from penstock.sinks import DeadLetterSettings
from penstock.spark.lake.conversion import EventTime
from penstock.spark.sinks.base import KindSettings, Sink, SinkContext
from penstock.spark.sinks.kinds import list_kinds, load_kinds
from penstock.spark.sinks.table import Route, Table
from penstock.tables import TABLE, parse_route


@dataclass(frozen=True, slots=True)
class SinkSettings(DeadLetterSettings):
    """The sinks for rows, and for records that are given up."""

    sinks: Mapping[str, KindSettings] = nested_each(list_kinds)
    event_days_before: int = setting(
        "PENSTOCK_EVENT_DAYS_BEFORE",
        "days that an event's time may lie before its Kafka timestamp, a number from 1; otherwise"
        " `_event_time` is the Kafka timestamp",
        parse=parse_count,
        default=30,
    )
    transform: str = setting(
        "PENSTOCK_TRANSFORM",
        "path or URL of a file of Python, whose function `transform(rows)` changes decoded rows"
        " before every sink",
        default="",
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
        parse=parse_shapes,
        default=(),
    )

    @property
    def chosen(self) -> dict[str, KindSettings]:
        """Return the settings of the kinds of sinks that the job writes to."""
        return {name: each for name, each in self.sinks.items() if each.is_chosen}

    def by_schema(self) -> dict[str, Self]:
        """Return the settings of each route's own table, by schema name."""
        return {
            name: replace(
                self,
                route=(),
                shapes=(),
                shape=dict(self.shapes).get(table, self.shape),
                sinks={kind: each.of_table(table) for kind, each in self.sinks.items()},
            )
            for name, table in self.route
        }

    def open_tables(self, context: SinkContext, *, replayed: bool = False) -> tuple[Table, ...]:
        """Open the table of all records, or those of routes; nothing is read or written.

        Sinks for `replayed` records skip rows that exist, whichever batch wrote them.
        """
        if not self.route:
            return (Table(self.open_sinks(context, replayed=replayed)),)
        tables = dict(self.route)
        return tuple(
            Table(each.open_sinks(context, replayed=replayed), Route(schema=name), tables[name])
            for name, each in self.by_schema().items()
        )

    def open_sinks(self, context: SinkContext, *, replayed: bool = False) -> tuple[Sink, ...]:
        """Open the sinks of one table."""
        time = EventTime(self.shape.event_time, self.event_days_before)
        context = replace(context, shape=self.shape, event_time=time)
        kinds = load_kinds()
        return tuple(
            ((replayed and kinds[name].open_replayed) or kinds[name].open)(each, context)
            for name, each in self.chosen.items()
        )

    def problems(self) -> Iterator[str]:
        """Yield a problem for a missing sink, unsupported tombstones and a name without a route."""
        if not self.chosen:
            flags = [next(iter(each.names)) for each in self.sinks.values()]
            yield f"found no sink, expected {', '.join(flags[:-1])} or {flags[-1]}"
        yield from self._tombstone_problems()
        routed = {table for _, table in self.route or ()}
        for table in dict(self.shapes or ()).keys() - routed:
            yield f"--shapes has the table {table!r}, expected one that --route names"
        for flag, name in (pair for each in self.sinks.values() for pair in each.names.items()):
            if self.route == () and TABLE in name:
                yield f"{flag} is {name!r}, expected --route to say what {TABLE} is"
            elif self.route and name and TABLE not in name:
                yield f"{flag} is {name!r}, expected {TABLE} in it, for --route to fill in"

    def _tombstone_problems(self) -> Iterator[str]:
        """Yield a problem for tombstones that are neither ignored nor can be deletions."""
        can_delete = "dynamodb" in self.chosen and not self.route
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
