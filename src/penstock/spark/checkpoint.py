"""What a query's checkpoint tells of it; Spark writes these files, and only Spark."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession

from penstock.errors import CheckpointError
from penstock.spark.lost import parse_offsets
from penstock.spark.rows import BatchId
from penstock.spark.state_files import StateFiles

_Offsets = dict[tuple[str, int], int]


class Checkpoint:
    """A checkpoint of a query with one Kafka source.

    | file | holds |
    | --- | --- |
    | `metadata` | `{"id": ...}`: the query's id, the same after each restart |
    | `offsets/N` | a line with the version, one with settings, one with the next offsets |
    | `sources/0/0` | a zero byte, `v1`, and the offsets that the query began with |
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        """Keep where it is; nothing is read yet."""
        self._folder = folder
        self._query: str | None = None
        self._ends: dict[int, _Offsets] = {}
        self._top = StateFiles(spark, folder)
        self._offsets = StateFiles(spark, f"{folder}/offsets")
        self._begun = StateFiles(spark, f"{folder}/sources/0")

    def query_id(self) -> str:
        """Read the id of the query.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        text = self._read(self._top, "metadata")
        try:
            return str(json.loads(text)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(
                "metadata", f"holds {text!r}, expected the id of a query"
            ) from error

    def batch_id(self, batch: int) -> BatchId:
        """Name a batch as sinks know it, with what it holds.

        Raises:
            CheckpointError: a file is missing or damaged.
        """
        if self._query is None:
            self._query = self.query_id()
        ends = sorted((topic, part, end) for (topic, part), end in self.ends(batch).items())
        return BatchId(self._query, batch, json.dumps(ends))

    def ends(self, batch: int) -> _Offsets:
        """Read the offsets behind a batch.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        if batch not in self._ends:
            # Spark never changes what it wrote; a batch asks for its own and for the one before.
            before = {known: self._ends[known] for known in self._ends if known == batch - 1}
            self._ends = before | {batch: self._parse(self._offsets, str(batch))}
        return self._ends[batch]

    def starts(self, batch: int) -> _Offsets:
        """Read the first offsets of a batch.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        return self.ends(batch - 1) if batch else self._parse(self._begun, "0")

    def _parse(self, files: StateFiles, name: str) -> _Offsets:
        text = self._read(files, name)
        try:
            return parse_offsets(text.splitlines()[-1])
        except (ValueError, AttributeError, IndexError) as error:
            raise self._damaged(name, f"holds {text[-80:]!r}, expected offsets") from error

    def _read(self, files: StateFiles, name: str) -> str:
        text = files.read(name)
        if text is None:
            raise self._damaged(name, "is missing")
        return text

    def _damaged(self, name: str, what: str) -> CheckpointError:
        return CheckpointError(
            f"the file {name} of the checkpoint {self._folder} {what}; restore it from a copy, or "
            f"begin with a new checkpoint and --starting at the time of the last batch"
        )
