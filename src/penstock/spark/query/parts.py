"""Write one part of a batch to the sinks of a table; decode, judge and count it in one pass."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from penstock.attempts import Attempts
from penstock.errors import Reason
from penstock.framing import FrameKind
from penstock.registry import SchemaVersion
from penstock.spark.decoding.decoder import Decoder, RowStatus
from penstock.spark.decoding.frames import FrameStatus, inflate_payloads
from penstock.spark.failures import ErrorSink, Judge, file_errors
from penstock.spark.rows import Sink
from penstock.tables import BatchId

FRAMED = f"status = '{FrameStatus.FRAMED}'"
_COMPRESSED = f"{FRAMED} AND compression = 'zlib'"
# An idle table still gets a marker twice a day. Snapshots of the last day are never expired, so one
# of these markers always remains (docs/adr/20261121-lake-markers.md).
_MARKED_SECONDS: Final = 12 * 3_600
_FINE: Final = ", ".join(f"'{status}'" for status in (*RowStatus, FrameStatus.TOMBSTONE))
IS_ERROR: Final = f"status NOT IN ({_FINE})"
_MEASURES: Final = {
    "records": "TRUE",
    "rows": f"status = '{RowStatus.DECODED}'",
    "unknown": f"status = '{RowStatus.UNKNOWN}'",
    "later": f"status = '{RowStatus.LATER}'",
    "errors": IS_ERROR,
}
# Spark reports its counts a moment after the last task.
_REPORTED: Final = Attempts(0.01, 0.1, 2)


class PartWriter:
    """Writes parts of batches, all under the merge of the known versions.

    An empty part still commits a marker. After one, later parts are counted first and skipped while
    they are empty, so an idle table gets two snapshots a day, not one per batch.
    """

    def __init__(
        self, sinks: Sequence[Sink], errors: ErrorSink, kinds: Collection[FrameKind]
    ) -> None:
        self._sinks = tuple(sinks)
        self._kinds = kinds
        self._errors = errors
        self._decoder: Decoder | None = None
        # By kind of part (0 plain, 1 compressed): until when an empty part needs no marker.
        self._marked_until: dict[int, float] = {}

    def write(
        self,
        batch: BatchId,
        part: int,
        frames: DataFrame,
        versions: Sequence[SchemaVersion],
        figures: Figures,
    ) -> None:
        """Write frames as one part; if some are compressed, write those as a second part."""
        if not versions:
            unknown = F.expr(f"IF({FRAMED}, '{RowStatus.UNKNOWN}', status)")
            self._write(batch, part, frames.withColumn("status", unknown), None, figures)
            return
        if self._decoder is None or self._decoder.versions != tuple(versions):
            self._decoder = Decoder(versions)
        later = f"coalesce({_COMPRESSED}, FALSE)"
        plain = frames.withColumns(
            {
                "status": F.expr(f"IF({later}, '{RowStatus.LATER}', status)"),
                "payload": F.expr(f"IF({later}, NULL, payload)"),
            }
        )
        decoder = self._decoder
        if self._write(batch, part, decoder.decode(plain), decoder, figures):
            inflated = inflate_payloads(frames.filter(_COMPRESSED))
            self._write(batch, part + 1, decoder.decode(inflated), decoder, figures)

    def _write(
        self,
        batch: BatchId,
        part: int,
        judged: DataFrame,
        decoder: Decoder | None,
        figures: Figures,
    ) -> int:
        """Write the rows and dead letters; return the number of records left for the next part."""

        def write(observed: DataFrame, decoder: Decoder) -> None:
            rows = decoder.select(observed)
            for sink in self._sinks:
                figures.refuse(sink.write(rows, batch, part))

        writing = partial(write, decoder=decoder) if decoder else None
        is_marked = time.monotonic() < self._marked_until.get(part % 2, 0)
        counts = count_while(judged, None if is_marked else writing)
        if is_marked and counts["rows"]:
            # Count again: the counts must be those of the pass that writes.
            counts = count_while(judged, writing)
        if counts["rows"]:
            self._marked_until.pop(part % 2, None)
        elif writing and not is_marked:
            self._marked_until[part % 2] = time.monotonic() + _MARKED_SECONDS
        figures.add(counts)
        if counts["errors"]:
            versions = decoder.versions if decoder else ()
            judge = Judge.of_versions(versions, {}, self._kinds)
            figures.refuse(file_errors(judged.filter(IS_ERROR), judge, self._errors))
        return counts["later"]


@dataclass(slots=True)
class Figures:
    """The counts of a batch so far; `records` is the count of its first part."""

    records: int = 0
    rows: int = 0
    unknown: int = 0
    errors: Counter[Reason] = field(default_factory=Counter)

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the counts of a part."""
        self.records = self.records or counts["records"]
        self.rows += counts["rows"]
        self.unknown += counts["unknown"]

    def refuse(self, given_up: Mapping[Reason, int]) -> None:
        """Add the records that a sink gave up itself, by reason."""
        self.errors.update(given_up)


def count_while(judged: DataFrame, write: Callable[[DataFrame], None] | None) -> dict[str, int]:
    """Count the records that `write` reads, by status; in a separate pass if it reads none.

    A sink that has the part already reads nothing. A sink that leaves Spark's plans (such as `rdd`)
    reads without being observed.
    """
    measures = [F.expr(f"count_if({sql})").alias(name) for name, sql in _MEASURES.items()]
    if write is not None:
        observation = Observation()
        write(judged.observe(observation, *measures))
        if _is_reported(observation):
            return observation.get
    (row,) = judged.agg(*measures).collect()
    counts: dict[str, int] = row.asDict()
    return counts


def _is_reported(observation: Observation) -> bool:
    watched: Any = observation._jo
    return any(watched.future().isCompleted() for _ in _REPORTED)
