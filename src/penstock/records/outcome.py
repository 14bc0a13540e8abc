"""The outcome of one record: each record has exactly one.

| outcome        | the record                                                             |
| -------------- | ---------------------------------------------------------------------- |
| `Row`          | has a row                                                              |
| `Deletion`     | deletes a row: it is a tombstone                                       |
| `FailedRecord` | is given up, and becomes a dead letter                                 |
| `Waiting`      | was written with a version that nobody has looked up yet               |
| `Ignored`      | has nothing to write, as its value says                                |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from penstock.framing import SchemaKey
from penstock.records.record import FailedRecord, Record


class Ignored(StrEnum):
    """Why a record that has no fault is not written."""

    TOMBSTONE = "tombstone"  # and the table ignores tombstones
    EMPTY = "empty"  # all columns that are chosen for its table are empty
    DECIDED = "decided"  # an earlier pass of the batch took it


@dataclass(frozen=True, slots=True)
class Row:
    """A record that has a row."""

    record: Record
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Deletion:
    """A tombstone, and the deleted row that replaces the row of its key."""

    record: Record
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record that cannot be read before this schema is looked up."""

    record: Record
    schema: SchemaKey


Outcome: TypeAlias = Row | Deletion | FailedRecord | Ignored | Waiting
