"""The history of a run: what was sent, what its senders were told, and what is there at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from systems.processes import End

Row = Mapping[str, Any]

# The programs of a platform, by the names that samples have.
PROGRAMS: Final = frozenset(
    {
        *("producer", "consumer", "mapping", "driver", "controller", "localcloud"),
        *("broker 1", "broker 2", "broker 3"),
    }
)


class Fate(StrEnum):
    """The answer to the sender of an event."""

    WRITTEN = "written"
    REFUSED = "refused"  # for good, and kept
    UNDELIVERED = "undelivered"  # kept, and perhaps written
    UNKNOWN = "unknown"  # no answer
    UNCLEAR = "unclear"  # an answer in another form


@dataclass(frozen=True, slots=True)
class Sent:
    """An event and its fate; `fits` says that it contradicts no event before it.

    `place` is the topic, partition and offset that the sender was told, `kept` the key of the
    bucket in which the event is kept.
    """

    values: Row
    fits: bool
    fate: Fate
    place: str = ""
    reason: str = ""
    kept: str = ""

    @property
    def id(self) -> tuple[str, int]:
        """Its sender and its number there, by which its record is found again."""
        return find_id(self.values)


def find_id(values: Row) -> tuple[str, int]:
    """Return the sender of an event, and its number there."""
    return str(values.get("sender")), int(values.get("number", -1))


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the topic."""

    partition: int
    offset: int
    time_ms: int
    value: bytes | None
    topic: str
    key: bytes = b""

    @property
    def place(self) -> str:
        """Its topic, partition and offset."""
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter; a replay that made rows of its record has marked it as done."""

    place: str
    reason: str
    value: bytes
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """The tables and dead letters that one program, a function or a job, made of the topic.

    `appended` has tables with a row for each record, and `newest` those with the newest row of each
    key, as pairs of a record's place and its row. Dead letters may be replayed.
    """

    appended: Mapping[str, Sequence[tuple[str, Row]]]
    newest: Mapping[str, Sequence[tuple[str, Row]]]
    letters: Sequence[Letter]
    is_replayed: bool = False


class Reading(NamedTuple):
    """Memory and open file handles of a process, with those that it started."""

    pid: int
    mb: int
    handles: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Programs at one second of a run, and how many records are in the topic and done by readers.

    A program may have several processes, or none for a while. Without an answer of the brokers,
    `records` is empty.
    """

    second: float
    programs: Mapping[str, Sequence[Reading]]
    records: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Staged:
    """The topics of a staging job by table, their schemas by id, its tables, and its dead letters.

    A topic has one partition. The tables are those of the topics, and that of joined rows.
    """

    records: Mapping[str, Sequence[Record]]
    versions: Mapping[str, str]
    tables: Mapping[str, Sequence[Row]]
    letters: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Captured:
    """The tables of a database, and what a job of change data capture made of them.

    `copies` has the tables of each sink by the names that they have in the database, and `versions`
    the history of each table.
    """

    tables: Mapping[str, Sequence[Row]]
    copies: Mapping[str, Mapping[str, Sequence[Row]]]
    versions: Mapping[str, Sequence[Row]]
    letters: Sequence[Row]


@dataclass(frozen=True, slots=True)
class History:
    """A whole run.

    `hostile` has the values of records that no producer of Penstock wrote, with the reason that
    their dead letters must give, `kept` the events of the bucket by key, `versions` the schemas of
    the registry by id, and `peak_mb` the most memory that a driver had. `mended` has those of the
    hostile values that a replay can read, with what they say, and `others` what the programs beside
    the job have read and made. `calm` has the events of each sender of which it was told after the
    last fault, and `dead` the threads that ended by themselves, and why.
    """

    sent: Sequence[Sent]
    hostile: Mapping[bytes, str]
    records: Sequence[Record]
    versions: Mapping[str, str]
    made: Mapping[str, Made]
    kept: Mapping[str, Any]
    ends: Sequence[End] = ()
    peak_mb: int = 0
    mended: Mapping[bytes, Row] = field(default_factory=dict)
    others: Mapping[str, Staged | Captured] = field(default_factory=dict)
    calm: Mapping[str, Sequence[Sent]] = field(default_factory=dict)
    dead: Mapping[str, str] = field(default_factory=dict)
