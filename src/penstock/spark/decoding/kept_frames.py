"""Split frames of a batch that executors keep by schema, so that each table reads only its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from penstock.framing import SchemaKey
from penstock.spark.decoding.jar import load_jar

_CLASS: Final = "penstock.spark.KeptFrames"
_START: Final = "payload_start"  # the payload is the rest of the value, and is not kept twice


class KeptFrames:
    """Frames in the memory of the executors and on their disks, in chunks of one schema key each.

    Frames of an executor that ends are read from Kafka again; `total` tells if some are missing.

    Attributes:
        total: the number of all frames.
        of_key: the number of frames of each known schema key.
    """

    def __init__(self, kept: Any, known: Collection[SchemaKey]) -> None:
        self._kept = kept
        *own, self.total = map(int, kept.count(_write_keys(known)).split())
        self.of_key: Mapping[SchemaKey, int] = dict(zip(known, own, strict=True))

    def read(
        self, session: SparkSession, keys: Collection[SchemaKey], *, others: bool = False
    ) -> DataFrame:
        """Return the frames that have one of these keys, or those that have none of them."""
        rows = DataFrame(
            self._kept.read(session._jsparkSession, _write_keys(keys), others), session
        )
        columns = (each for each in rows.columns if each != _START)
        return rows.selectExpr(*columns, f"substring(value, {_START}) AS payload")


@contextmanager
def keep_frames(frames: DataFrame, known: Collection[SchemaKey]) -> Iterator[KeptFrames]:
    """Read the frames of a batch once, and keep them; each pass has a task for each core."""
    session = frames.sparkSession
    load_jar(session)
    jvm: Any = session._jvm
    columns = (each for each in frames.columns if each != "payload")
    rows = frames.selectExpr(*columns, f"1 + length(value) - length(payload) AS {_START}")
    tasks = session.sparkContext.defaultParallelism
    kept = getattr(jvm, _CLASS).keep(rows._jdf, tasks)
    try:
        yield KeptFrames(kept, known)
    finally:
        kept.free()


def _write_keys(keys: Collection[SchemaKey]) -> str:
    return " ".join(each.pack().hex() for each in keys)
