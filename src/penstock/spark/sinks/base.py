"""The interface of a sink, and of a kind of sinks: its settings, and how it opens sinks.

A kind is one module. Those of Penstock are in `penstock.spark.sinks.kinds`; others are entry points
in the group `penstock.sinks` (examples/own_sink.py is one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Protocol, Self

from pyspark.sql import DataFrame, SparkSession

from penstock.consuming import AfterWrite, ErrorSink
from penstock.errors import Reason
from penstock.framing import Framing
from penstock.records import READING, Projection, RowShape
from penstock.registry import RegistrySettings, SchemaVersion
from penstock.settings import Settings
from penstock.spark.lake.conversion import EventTime
from penstock.spark.rows import Fence
from penstock.tables import TABLE, BatchId

_ALL_FRAMES: Final = Framing()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a batch: a batch that comes again after a crash has the same parts.

    Attributes:
        batch: the query and the number of the batch.
        number: the number of the part, from 0.
        versions: the schema versions of its records.
        framing: how the schema ids of its records are found.
        constant: the text in the constant column of its rows, if they have one.
    """

    batch: BatchId
    number: int
    versions: tuple[SchemaVersion, ...] = ()
    framing: Framing = _ALL_FRAMES
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The abilities of a sink besides appending rows.

    Attributes:
        reads_records: it makes rows of raw records, as the consumer function does, so a table that
            has only such sinks is not decoded to columns.
        deletes: it also takes records without a value, whose rows it deletes.
        shares_job: it is an `AppendSink`: one job may write its rows and those of other tables.
    """

    reads_records: bool = False
    deletes: bool = False
    shares_job: bool = False


class Sink(Protocol):
    """A destination for the rows of a batch; writes are idempotent."""

    @property
    def capabilities(self) -> Capabilities:
        """Return the abilities of the sink besides appending rows."""
        return Capabilities()

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write rows with the columns of `penstock.spark.rows`, unless the part is there already.

        Returns:
            The number of records that the sink rejected and gave up itself, by reason.
        """


@dataclass(frozen=True, slots=True)
class SinkContext:
    """The values that all sinks of a table use.

    Attributes:
        spark: the session.
        errors: a sink for records that a table rejects.
        lease: sinks write only while it is held.
        schemas: the registries of the schemas of Avro keys, which executors look up.
        shape: the form of the table's rows.
        event_time: the time of an event, for tables that are partitioned by it.
        columns: the fields that are columns; without it, all are.
        after_write: takes rows that a table of rows by key has.
    """

    spark: SparkSession
    errors: ErrorSink
    lease: Fence
    schemas: RegistrySettings
    shape: RowShape = READING
    event_time: EventTime = field(default_factory=EventTime)
    columns: Projection | None = None
    after_write: AfterWrite | None = None


class KindSettings(Settings):
    """The settings of one kind of sink; the first one of `NAMES` chooses it.

    `NAMES` are the settings that name tables or folders: with routes, they have {table} in them.
    """

    __slots__ = ()
    NAMES: ClassVar[tuple[str, ...]]

    @property
    def names(self) -> dict[str, str]:
        """Return the names of tables or folders, by the flags that set them."""
        return {f"--{each.replace('_', '-')}": getattr(self, each) or "" for each in self.NAMES}

    @property
    def is_chosen(self) -> bool:
        """Return whether a job writes to a sink of this kind."""
        return bool(getattr(self, self.NAMES[0]))

    def of_table(self, table: str) -> Self:
        """Return the settings of one table of several."""
        filled = {each: getattr(self, each).replace(TABLE, table) for each in self.NAMES}
        made: Self = replace(self, **filled)  # type: ignore[type-var] # subclasses are dataclasses
        return made


@dataclass(frozen=True, slots=True)
class SinkKind:
    """A kind of sinks.

    Attributes:
        name: its name.
        settings: the class of its settings.
        open: opens a sink by settings of this class.
        open_replayed: opens a sink for records that the table may have already, whichever batch
            wrote them: the same one if its rows have keys of their own. Without it, a replay is
            refused.
    """

    name: str
    settings: type[KindSettings]
    open: Callable[[Any, SinkContext], Sink]
    open_replayed: Callable[[Any, SinkContext], Sink] | None = None
