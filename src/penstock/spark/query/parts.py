"""One part of a batch into the sinks of a table, decoded, judged and counted in one pass."""

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
from penstock.spark.failures.judging import ErrorSink, Judge, file_errors
from penstock.spark.rows import Sink
from penstock.tables import BatchId

FRAMED = f"status = '{FrameStatus.FRAMED}'"
_COMPRESSED = f"{FRAMED} AND compression = 'zlib'"
# A table that gets nothing is marked twice a day all the same: whoever expires snapshots leaves
# those of a day, and so a marker of ours (docs/adr/20261121-lake-markers.md).
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
# Spark tells what it counted a moment after the last task.
_TOLD: Final = Attempts(0.01, 0.1, 2)


class PartWriter:
    """Writes parts of batches, all under the merge of the versions that are known.

    A part without rows leaves a marker in the table like any other. Behind one, parts are counted
    before they are written, and those without rows are not, until there are some again.
    """

    def __init__(
        self, sinks: Sequence[Sink], errors: ErrorSink, kinds: Collection[FrameKind]
    ) -> None:
        self._sinks = tuple(sinks)
        self._kinds = kinds
        self._errors = errors
        self._decoder: Decoder | None = None
        # Of plain parts and of compressed ones: until when those without rows need no marker.
        self._marked_until: dict[int, float] = {}

    def write(
        self,
        batch: BatchId,
        part: int,
        frames: DataFrame,
        versions: Sequence[SchemaVersion],
        figures: Figures,
    ) -> None:
        """Write frames as one part, and as a second the compressed ones, if there are any."""
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
        """Write the rows and file the errors; give the number left for the next part."""

        def write(observed: DataFrame, decoder: Decoder) -> None:
            rows = decoder.select(observed)
            for sink in self._sinks:
                figures.refuse(sink.write(rows, batch, part))

        writing = partial(write, decoder=decoder) if decoder else None
        is_marked = time.monotonic() < self._marked_until.get(part % 2, 0)
        counts = count_while(judged, None if is_marked else writing)
        if is_marked and counts["rows"]:
            # Counted anew: what counts is what the pass that writes has read.
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
    """What a batch came to so far; `records` counts those of its first part."""

    records: int = 0
    rows: int = 0
    unknown: int = 0
    errors: Counter[Reason] = field(default_factory=Counter)

    def add(self, counts: Mapping[str, int]) -> None:
        """Add what a part came to."""
        self.records = self.records or counts["records"]
        self.rows += counts["rows"]
        self.unknown += counts["unknown"]

    def refuse(self, given_up: Mapping[Reason, int]) -> None:
        """Add what a sink gave up itself."""
        self.errors.update(given_up)


def count_while(judged: DataFrame, write: Callable[[DataFrame], None] | None) -> dict[str, int]:
    """Count by status what `write` reads; by a pass of its own where it reads nothing.

    A sink that has the part already reads nothing, and one that leaves Spark's plans (as `rdd`)
    reads without being watched.
    """
    measures = [F.expr(f"count_if({sql})").alias(name) for name, sql in _MEASURES.items()]
    if write is not None:
        observation = Observation()
        write(judged.observe(observation, *measures))
        if _is_told(observation):
            return observation.get
    (row,) = judged.agg(*measures).collect()
    counts: dict[str, int] = row.asDict()
    return counts


def _is_told(observation: Observation) -> bool:
    watched: Any = observation._jo
    return any(watched.future().isCompleted() for _ in _TOLD)
