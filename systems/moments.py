"""The moments of Spark jobs at which a kill hurts most: calls to AWS, in the order of a batch.

A moment is the steps that lead to it, and whether the last of them has its effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from systems.traps import Step


class Moment(NamedTuple):
    """The steps to a moment, and whether the last of them has its effect."""

    steps: Sequence[Step]
    performed: bool


OFFSETS: Final = Step("PutObject", r"/offsets/\d+$")
FILE: Final = Step("PutObject", r"/data/.*\.parquet$")
_DONE: Final = Step("PutObject", r"/commits/\d+$")

# --- the consuming job: a lookup says that a batch has a new version, whose records are a part ---

_SNAPSHOT: Final = Step("PutObject", r"/metadata/snap-")
_COMMIT: Final = Step("UpdateTable")
_PART: Final = (OFFSETS, Step("PutObject", r"/penstock-ledger/.*\.jsonl$"))
_UNPUBLISHED: Final = (*_PART, _SNAPSHOT, _COMMIT)
# `make pr` takes the first one, in which the table and its files contradict each other.
CONSUMED: Final[Mapping[str, Moment]] = {
    "after they are staged, before they are published": Moment(
        (*_UNPUBLISHED, _COMMIT), performed=False
    ),
    "after the files, before they are staged": Moment(_UNPUBLISHED, performed=False),
    "after they are published, before the other table": Moment(
        (*_UNPUBLISHED, _COMMIT), performed=True
    ),
    "after the tables, before Spark's commit": Moment((OFFSETS, _DONE), performed=False),
    "after the offsets": Moment((OFFSETS,), performed=True),
    "amid the files of a part": Moment((*_PART, FILE), performed=True),
    "after Spark's commit": Moment((OFFSETS, _DONE), performed=True),
}

# --- the staging job -----------------------------------------------------------------------------

_CUSTOMER: Final = Step("PutItem", r"-customers$")
_SHIPMENT: Final = Step("PutItem", r"-shipments$")
_JOIN: Final = Step("BatchGetItem", r"-shipments$")
_RELEASE: Final = Step("Query", r"-waiting$")
_RELEASED: Final = Step("PutItem", r"-fulfilments$")
WAITING: Final = Step("BatchWriteItem", r"-waiting$")
# `make pr` takes the first two, where the tables contradict each other.
STAGED: Final[Mapping[str, Moment]] = {
    "after a driver waits, before its dependencies are read again": Moment(
        (OFFSETS, WAITING), performed=True
    ),
    "after a final row, before its dead letter is done": Moment(
        (OFFSETS, _RELEASE, _RELEASED), performed=True
    ),
    "before anything is staged": Moment((OFFSETS, _CUSTOMER), performed=False),
    "after a driver's row is staged, before it is joined": Moment(
        (OFFSETS, _SHIPMENT, _JOIN), performed=False
    ),
    "after Spark's commit": Moment((OFFSETS, _DONE), performed=True),
}

# --- the job of change data capture, which merges the changes of a batch into tables -------------

_COPY: Final = Step("PutItem", r"films_public_")
CAPTURED: Final[Mapping[str, Moment]] = {
    "after the offsets": Moment((OFFSETS,), performed=True),
    "before a table is committed": Moment((OFFSETS, _SNAPSHOT, _COMMIT), performed=False),
    "after a table is committed, before the others": Moment(
        (OFFSETS, _SNAPSHOT, _COMMIT), performed=True
    ),
    "amid the rows of DynamoDB": Moment((OFFSETS, _COPY, _COPY), performed=True),
    "after the tables, before Spark's commit": Moment((OFFSETS, _DONE), performed=False),
    "after Spark's commit": Moment((OFFSETS, _DONE), performed=True),
}

# --- the replay of the consuming job's dead letters ----------------------------------------------

_NEWEST: Final = Step("PutItem", r"-newest$")
_PUBLISHED: Final = (_SNAPSHOT, _COMMIT, _COMMIT)
_MARK: Final = Step("UpdateItem", r"-errors sensor/")
REPLAYED: Final[Mapping[str, Moment]] = {
    "after the table, before the files": Moment((_NEWEST, FILE), performed=False),
    "after the files, before they are staged": Moment((_SNAPSHOT, _COMMIT), performed=False),
    "after they are published, before a mark": Moment((*_PUBLISHED, _MARK), performed=False),
    "amid the marks": Moment((*_PUBLISHED, *[_MARK] * 3), performed=True),
}

# --- the maintenance of a lake table -------------------------------------------------------------

_REMOVED: Final = Step("DeleteObjects")
MAINTAINED: Final[Mapping[str, Moment]] = {
    "before a compaction is committed": Moment((FILE, _COMMIT), performed=False),
    "after a compaction is committed": Moment((FILE, _COMMIT), performed=True),
    "after snapshots have expired, before their files are removed": Moment(
        (_COMMIT, _REMOVED), performed=False
    ),
    "after files of no snapshot are found, before they are removed": Moment(
        (Step("ListObjectsV2"), _REMOVED), performed=False
    ),
    "after files of no snapshot are removed": Moment(
        (Step("ListObjectsV2"), _REMOVED), performed=True
    ),
}
