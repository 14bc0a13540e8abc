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

If more than a hundred earlier batches brought versions, their files become one, which is named
after the last of them: `BATCH-ROUND.all.jsonl`. It has their versions, and as M the number of files
with versions that it replaces. They are deleted once it is there; a start deletes what a crash left
of them.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.errors import CheckpointError, Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion, read_version, write_version
from penstock.spark.state.files import WHAT_TO_DO, StateFiles

_LOG = logging.getLogger(__name__)
_NAME: Final = re.compile(r"([0-9]{20})-([0-9]{4})(\.all)?\.jsonl")
_ALL: Final = ".all"
# A start reads each file, which takes some 50 ms on S3.
_MOST_FILES: Final = 100
# A job may replace files while another one reads them.
_MOST_LISTINGS: Final = 5


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
        """Return the versions known when a batch began, in the order of their last lookups."""
        found: dict[SchemaKey, SchemaVersion] = {}
        for place in sorted(self._lookups):
            if place[0] < batch:
                for version in self._lookups[place].versions:
                    found.pop(version.key, None)
                    found[version.key] = version
        return tuple(found.values())

    def lookups(self, batch: int) -> tuple[Lookup, ...]:
        """Return the lookups that a batch has already, from before it came again."""
        places = sorted(place for place in self._lookups if place[0] == batch)
        return tuple(self._lookups[place] for place in places)

    def add(self, lookup: Lookup) -> None:
        """Store a lookup; call this before writing any record that depends on it."""
        self._lookups[lookup.batch, lookup.round] = lookup

    def tidy(self, batch: int) -> None:
        """Delete earlier look-ups without versions, because there is no limit of unknown ids."""
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
        self._with_versions = 0  # files with versions so far, whether they were replaced or not
        self._recall()

    def add(self, lookup: Lookup) -> None:
        """Write a lookup; call this before writing any record that depends on it.

        Raises:
            CheckpointInUseError: another job has written it.
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
        self._write_lines(_name(lookup.batch, lookup.round), lines, self._with_versions)
        self._with_versions += bool(lookup.versions)
        super().add(lookup)

    def tidy(self, batch: int) -> None:
        """Delete earlier look-ups without versions, and merge many files into one."""
        super().tidy(batch)
        over = [place for place in self._lookups if place[0] < batch]
        if len(over) <= _MOST_FILES:
            return
        versions = self.before(batch)
        lines = [{"version": write_version(version)} for version in versions]
        later = sum(bool(each.versions) for at, each in self._lookups.items() if at[0] >= batch)
        last = max(over)
        self._write_lines(_name(*last, _ALL), lines, self._with_versions - later)
        for place in over:
            del self._lookups[place]
        self._lookups[last] = Lookup(*last, versions)
        self._delete(_find_replaced(self._files.names(), _name(*last, _ALL)))

    def _forget(self, place: tuple[int, int]) -> None:
        self._files.delete(_name(*place))
        super()._forget(place)

    def _write_lines(self, name: str, lines: list[dict[str, Any]], before: int) -> None:
        end = {"lines": len(lines), "before": before}
        self._files.write(name, "".join(f"{json.dumps(line)}\n" for line in [*lines, end]))

    def _recall(self) -> None:
        texts = self._load()
        for name in texts:
            self._check_name(name)
        for name in [name for name in texts if self._was_cut_off(name, texts)]:
            _LOG.warning("%s/%s was cut off when it was written", self._folder, name)
            del texts[name]
            self._delete([name])
        newest = max((name for name in texts if _is_all(name)), default="")
        replaced = _find_replaced(texts, newest) if newest else []
        for name in sorted(texts.keys() - set(replaced)):
            self._read_lines(name, texts[name])
        self._delete(replaced)

    def _load(self) -> dict[str, str]:
        """Return the texts of the files, as of one time.

        Raises:
            CheckpointError: files disappear again and again.
        """
        for _ in range(_MOST_LISTINGS):
            texts = {name: self._files.read(name) for name in self._files.names()}
            found = {name: text for name, text in texts.items() if text is not None}
            if len(found) == len(texts):
                return found
        raise CheckpointError(
            f"files of {self._folder} disappeared while they were read, {_MOST_LISTINGS} times, "
            "expected a job that replaces them rarely; start again"
        )

    def _check_name(self, name: str) -> None:
        where = f"{self._folder}/{name}"
        if _NAME.fullmatch(name) is None:
            raise CheckpointError(f"found {where}, expected only files of a schema ledger")
        # Files are replaced in a batch after the last one that they are of.
        batch = _parse_name(name)[0] + _is_all(name)
        if self._next_batch is not None and batch > self._next_batch:
            raise CheckpointError(
                f"{where} is of batch {batch}, and the checkpoint's files in offsets end before "
                f"batch {self._next_batch}, expected those of all batches; {WHAT_TO_DO}"
            )

    def _was_cut_off(self, name: str, texts: Mapping[str, str]) -> bool:
        """Return whether a crash ended a write on which nothing depends."""
        if _is_whole(texts[name]):
            return False
        if _is_all(name):
            return _name(*_parse_name(name)) in texts
        return _parse_name(name)[0] >= (self._next_batch or 0)

    def _delete(self, names: Iterable[str]) -> None:
        """Delete files of this job; files of another job are kept."""
        if self._next_batch is not None:
            for name in names:
                self._files.delete(name)

    def _read_lines(self, name: str, text: str) -> None:
        try:
            values = _parse(text)
            if _is_all(name):
                self._with_versions = values[-1]["before"]
            lookup = _parse_lookup(*_parse_name(name), values, self._with_versions)
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{self._folder}/{name} is damaged ({error}), expected it as it was written; "
                f"{WHAT_TO_DO}"
            ) from error
        self._with_versions += bool(lookup.versions) and not _is_all(name)
        self._lookups[lookup.batch, lookup.round] = lookup


def _name(batch: int, round_: int, kind: str = "") -> str:
    return f"{batch:020d}-{round_:04d}{kind}.jsonl"


def _is_all(name: str) -> bool:
    return name.endswith(f"{_ALL}.jsonl")


def _parse_name(name: str) -> tuple[int, int]:
    """Return the batch and round in the name of a file."""
    batch, round_ = name.partition(".")[0].split("-")
    return int(batch), int(round_)


def _find_replaced(names: Iterable[str], by: str) -> list[str]:
    """Return the names of the files that the file `by` replaces."""
    return [name for name in names if name != by and _parse_name(name) <= _parse_name(by)]


def _is_whole(text: str) -> bool:
    *lines, rest = text.split("\n")
    return not rest and bool(lines) and lines[-1].startswith('{"lines": ')


def _parse(text: str) -> list[dict[str, Any]]:
    if not _is_whole(text):
        raise ValueError("its end is missing")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def _parse_lookup(batch: int, round_: int, found: Sequence[dict[str, Any]], before: int) -> Lookup:
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
