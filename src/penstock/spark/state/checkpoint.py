"""Read a query's checkpoint, whose files Spark and its sources write."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import SparkSession

from penstock.errors import CheckpointError
from penstock.spark.state.files import WHAT_TO_DO, StateFiles
from penstock.spark.state.losses import parse_offsets
from penstock.tables import BatchId

_Offsets = dict[tuple[str, int], int]
_SHOWN = 80
_BEGUN = ".begun"  # no file of the ledger itself


class Checkpoint:
    """A checkpoint of a query with one source, Kafka or an Iceberg table.

    | file | holds |
    | --- | --- |
    | `metadata` | `{"id": ...}`: the query's id, the same after each restart |
    | `offsets/N` | a line with the version, one with settings, one with the next offsets |
    | `commits/N` | a line with the version, one of JSON; exists once batch N is over |
    | `sources/0/0` | a zero byte, `v1`, and the offsets that the query began with |
    | `sources/0/offsets/0` | with an Iceberg table: the snapshot that the query began with |

    Penstock keeps its own folders beside them: `ledger` (`schema_ledger.Ledger`), `routes`
    (`check_routes`), `topics` (`TopicWatch`), `start` (`keep_start`), `key` (`check_key`) and
    `lease` (`claim_checkpoint`).
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.folder = folder
        self.ledger = f"{folder}/penstock-ledger"
        self.routes = StateFiles(spark, f"{folder}/penstock-routes")
        self.topics = StateFiles(spark, f"{folder}/penstock-topics")
        self._query: str | None = None
        self._ends: dict[int, _Offsets] = {}
        self._top = StateFiles(spark, folder)
        self._ledger = StateFiles(spark, self.ledger)
        self._start = StateFiles(spark, f"{folder}/penstock-start")
        self._key = StateFiles(spark, f"{folder}/penstock-key")
        self._offsets = StateFiles(spark, f"{folder}/offsets")
        self._commits = StateFiles(spark, f"{folder}/commits")
        self._begun = StateFiles(spark, f"{folder}/sources/0")
        self._snapshot = StateFiles(spark, f"{folder}/sources/0/offsets")

    def check(self) -> int:
        """Check whether a query can continue from here, before Spark tries to.

        If `metadata` is missing, Spark creates a new id, by which no table would know its batches.
        If `sources/0/0` is missing, Spark chooses the starting offsets again. If Spark cannot read
        a file, its error does not tell how to continue.

        Returns:
            The number of the next batch, or of the last one if that must be repeated.

        Raises:
            CheckpointError: a file that is needed is missing or damaged.
        """
        planned, over = _numbers(self._offsets), _numbers(self._commits)
        last = max(planned | over, default=None)
        if last is None:
            if "metadata" in self._top.names():
                self.query_id()
            if self._begun.names():
                self._parse(self._begun, "sources/0/0")
            return 0
        self.query_id()
        done = last if last in over else last - 1
        if done in over:
            self._read_json(self._commits, f"commits/{done}")
        self.ends(last)
        if last > 0 or last not in over:
            self.starts(last)
        return last + (last in over)

    def is_begun(self, batch: int) -> bool:
        """Return whether Spark has planned a batch."""
        return batch in _numbers(self._offsets)

    def is_new(self) -> bool:
        """Return whether no batch is over, so that the next one begins where the stream begins."""
        return not _numbers(self._commits)

    def keep_start(self, start: str) -> str:
        """Return where the query began: here, unless it has planned a batch before."""
        if not _numbers(self._offsets):
            self._start.delete("0")
            self._start.write("0", start)
        return self._start.read("0") or start

    def check_key(self, key: str) -> None:
        """Store the key of the totals at the first start, and refuse another one later.

        Spark compares the types of keys alone, so it would mix the totals of both.

        Raises:
            CheckpointError: its totals are those of another key.
        """
        if not _numbers(self._offsets):
            self._key.delete("0")
        kept = self._key.read("0")
        if kept is None:  # new, or of a version that did not keep it
            self._key.write("0", key)
        elif kept != key:
            raise CheckpointError(
                f"the checkpoint {self.folder} has totals by {kept}, found --by {key}, expected "
                f"{kept}; give that again, or another folder as --checkpoint"
            )

    def check_ledger(self) -> None:
        """Begin the schema ledger at the first start, and refuse to go on without it later.

        Without it, a batch that is half done would be split another way, and written twice.

        Raises:
            CheckpointError: it is missing.
        """
        if self._ledger.read(_BEGUN) is not None or self._ledger.names():
            return
        if _numbers(self._offsets):
            raise CheckpointError(
                f"the schema ledger {self.ledger} is missing, expected the versions of the batches "
                f"in {self.folder}/offsets; {WHAT_TO_DO}"
            )
        self._ledger.write(_BEGUN, "")

    def forget_snapshot(self) -> None:
        """Forget the snapshot with which a stream of an Iceberg table began, once a batch is over.

        Nothing begins there any more. Yet Iceberg cannot start again without it if the trigger is
        available-now; if the file is missing, it keeps the oldest snapshot that there is.
        """
        if not self.is_new():
            self._snapshot.delete("0")

    def query_id(self) -> str:
        """Return the id of the query.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        text = self._read_file(self._top, "metadata")
        try:
            return str(json.loads(text)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged("metadata", text, "the id of a query") from error

    def batch_id(self, batch: int) -> BatchId:
        """Return the id of a batch for sinks, with its offsets.

        Raises:
            CheckpointError: a file is missing or damaged.
        """
        if self._query is None:
            self._query = self.query_id()
        ends = sorted((topic, part, end) for (topic, part), end in self.ends(batch).items())
        return BatchId(self._query, batch, json.dumps(ends))

    def ends(self, batch: int) -> _Offsets:
        """Return the end offsets of a batch, which are exclusive.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        if batch not in self._ends:
            # Spark never changes these files; a batch needs its own and the one before.
            before = {known: self._ends[known] for known in self._ends if known == batch - 1}
            self._ends = before | {batch: self._parse(self._offsets, f"offsets/{batch}")}
        return self._ends[batch]

    def read_so_far(self) -> _Offsets:
        """Return the end offsets of the last batch that is over; empty if there is none.

        Raises:
            CheckpointError: the file is missing or damaged, or there is no checkpoint at all.
        """
        over = _numbers(self._commits)
        if not over and "metadata" not in self._top.names():
            raise CheckpointError(
                f"found neither metadata nor commits in {self.folder}, expected the checkpoint of "
                "the job that consumes; give the folder that it has as --checkpoint, or start it "
                "first"
            )
        return self.ends(max(over)) if over else {}

    def starts(self, batch: int) -> _Offsets:
        """Return the first offsets of a batch.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        return self.ends(batch - 1) if batch else self._parse(self._begun, "sources/0/0")

    def _parse(self, files: StateFiles, name: str) -> _Offsets:
        text = self._read_file(files, name)
        try:
            return parse_offsets(text.splitlines()[-1])
        except (ValueError, AttributeError, IndexError) as error:
            raise self._damaged(name, text, "offsets") from error

    def _read_json(self, files: StateFiles, name: str) -> None:
        text = self._read_file(files, name)
        try:
            dict(json.loads(text.splitlines()[1]))
        except (ValueError, TypeError, IndexError) as error:
            raise self._damaged(name, text, "a version and a line of JSON") from error

    def _read_file(self, files: StateFiles, name: str) -> str:
        text = files.read(name.rpartition("/")[2])
        if text is None:
            raise CheckpointError(
                f"the file {name} of the checkpoint {self.folder} is missing; {WHAT_TO_DO}"
            )
        return text

    def _damaged(self, name: str, text: str, expected: str) -> CheckpointError:
        found = f"ends in {text[-_SHOWN:]!r}" if text else "is empty"
        return CheckpointError(
            f"the file {name} of the checkpoint {self.folder} {found}, expected {expected}; "
            f"{WHAT_TO_DO}"
        )


def _numbers(files: StateFiles) -> set[int]:
    return {int(name) for name in files.names() if name.isdecimal()}


def check_routes(
    files: StateFiles, checkpoint: Checkpoint, batch: int, routes: Mapping[str, str]
) -> None:
    """Store the routes of a job whose next batch is `batch`.

    They are in a file, `NUMBER.json`, which each change replaces: the tables by schema name.

    Raises:
        CheckpointError: that batch is half done with other routes.
    """
    text = json.dumps(dict(sorted(routes.items())))
    _, kept = files.read_last() or ("", None)
    if kept == text:
        return
    if kept is not None and checkpoint.is_begun(batch):
        raise CheckpointError(
            f"batch {batch} of the checkpoint {checkpoint.folder} is half done with the routes "
            f"{kept}, found {text}, expected the same until it is over: start once with those and "
            "--trigger available-now, then with these"
        )
    files.replace(text)
