"""The schema versions that a query has looked up, stored beside its checkpoint.

A batch that comes again after a crash must be split as before: decoded records go to the same part,
and records that were given up stay given up, whatever a registry answers since. So each time a
batch looks up unknown versions, the answers are written here before any record that depends on
them. Each lookup is one file, `BATCH-ROUND.jsonl`, with one JSON value per line:

| line                                             | meaning                                  |
| ------------------------------------------------ | ---------------------------------------- |
| `{"version": {...}}`                             | a version that is used from then on      |
| `{"refused": ID, "reason": ..., "detail": ...}`  | an id whose records this batch gives up  |
| `{"others": REASON, "detail": ...}`              | so it does with all other unknown ids    |
| `{"lines": N, "before": M}`                      | the last line: N lines precede it, and M |
|                                                  | files with versions precede this file    |

A file of the current batch without its last line was cut off by a crash; nothing depends on it.
Files are never merged: a start reads one file for each batch that brought new versions.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.errors import CheckpointError, Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion, read_version, write_version
from penstock.spark.state.files import WHAT_TO_DO, StateFiles

_LOG = logging.getLogger(__name__)
_NAME: Final = re.compile(r"([0-9]{20})-([0-9]{4})\.jsonl")


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of one lookup of a batch: new versions, and failures by key of unusable ones.

    `others` is the failure of all versions that are still unknown, if there are too many.
    """

    batch: int
    round: int
    versions: tuple[SchemaVersion, ...]
    refused: Mapping[SchemaKey, Failure] = field(default_factory=dict)
    others: Failure | None = None


class Lookups:
    """The lookups of a query, in the memory of its driver."""

    def __init__(self) -> None:
        self._lookups: dict[tuple[int, int], Lookup] = {}

    def before(self, batch: int) -> tuple[SchemaVersion, ...]:
        """Return the versions known when a batch began, in the order of their lookups."""
        return tuple(
            version
            for place in sorted(self._lookups)
            if place[0] < batch
            for version in self._lookups[place].versions
        )

    def lookups(self, batch: int) -> tuple[Lookup, ...]:
        """Return the lookups that a batch has already, from before it came again."""
        return tuple(self._lookups[place] for place in sorted(self._lookups) if place[0] == batch)

    def add(self, lookup: Lookup) -> None:
        """Store a lookup; call this before writing any record that depends on it."""
        self._lookups[lookup.batch, lookup.round] = lookup

    def tidy(self, batch: int) -> None:
        """Delete lookups of earlier batches without versions; unknown ids are unlimited."""
        for place, lookup in list(self._lookups.items()):
            if place[0] < batch and not lookup.versions:
                self._forget(place)

    def _forget(self, place: tuple[int, int]) -> None:
        del self._lookups[place]


class Ledger(Lookups):
    """The lookups of a query, in a folder.

    `next_batch` is the batch that comes next according to the checkpoint. Without it the ledger is
    another job's, and only that job deletes files.

    Raises (when built):
        CheckpointError: a file is missing or damaged.
    """

    def __init__(self, spark: SparkSession, folder: str, next_batch: int | None = None) -> None:
        super().__init__()
        self._folder = folder
        self._next_batch = next_batch
        self._files = StateFiles(spark, folder)
        for name in self._files.names():
            lookup = self._read(name)
            if lookup is not None:
                self._lookups[lookup.batch, lookup.round] = lookup

    def add(self, lookup: Lookup) -> None:
        """Write a lookup; call this before writing any record that depends on it.

        Raises:
            CheckpointTakenError: another job has written it.
        """
        lines: list[dict[str, Any]] = [
            {"version": write_version(version)} for version in lookup.versions
        ]
        lines += [
            {"refused": str(key), "reason": failure.reason.value, "detail": failure.detail}
            for key, failure in lookup.refused.items()
        ]
        if lookup.others:
            lines.append({"others": lookup.others.reason.value, "detail": lookup.others.detail})
        lines.append({"lines": len(lines), "before": self._count_with_versions()})
        name = _name(lookup.batch, lookup.round)
        self._files.write(name, "".join(f"{json.dumps(line)}\n" for line in lines))
        super().add(lookup)

    def _forget(self, place: tuple[int, int]) -> None:
        self._files.delete(_name(*place))
        super()._forget(place)

    def _count_with_versions(self) -> int:
        return sum(bool(lookup.versions) for lookup in self._lookups.values())

    def _read(self, name: str) -> Lookup | None:
        where = f"{self._folder}/{name}"
        match = _NAME.fullmatch(name)
        if match is None:
            raise CheckpointError(f"found {where}, expected only files of a schema ledger")
        batch = int(match[1])
        if self._next_batch is not None and batch > self._next_batch:
            raise CheckpointError(
                f"{where} is of batch {batch}, and the checkpoint's files in offsets end before "
                f"batch {self._next_batch}, expected those of all batches; {WHAT_TO_DO}"
            )
        try:
            values = _parse(self._files.read(name) or "")
            if values is None and batch >= (self._next_batch or 0):
                _LOG.warning("%s was cut off when it was written", where)
                if self._next_batch is not None:
                    self._files.delete(name)
                return None
            return _parse_lookup(batch, int(match[2]), values, self._count_with_versions())
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{where} is damaged ({error}), expected it as it was written; {WHAT_TO_DO}"
            ) from error


def _name(batch: int, round_: int) -> str:
    return f"{batch:020d}-{round_:04d}.jsonl"


def _parse(text: str) -> list[dict[str, Any]] | None:
    """Return the values of a file; None if its end is missing."""
    *lines, rest = text.split("\n")
    if rest or not lines or not lines[-1].startswith('{"lines": '):
        return None
    return [json.loads(line) for line in lines]


def _parse_lookup(
    batch: int, round_: int, found: list[dict[str, Any]] | None, before: int
) -> Lookup:
    if found is None:
        raise ValueError("its end is missing")
    *values, end = found
    if end["lines"] != len(values):
        raise ValueError(f"found {len(values)} lines before {end}")
    if end["before"] != before:
        raise ValueError(f"it is the one after {end['before']} files, and {before} are there")
    others = [
        Failure(Reason(each["others"]), each["detail"]) for each in values if "others" in each
    ]
    return Lookup(
        batch,
        round_,
        tuple(read_version(each["version"]) for each in values if "version" in each),
        {
            SchemaKey.parse(each["refused"]): Failure(Reason(each["reason"]), each["detail"])
            for each in values
            if not {"version", "others"} & each.keys()
        },
        next(iter(others), None),
    )
