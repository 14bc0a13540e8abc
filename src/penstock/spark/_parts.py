"""One part of a batch into the sinks of a table, decoded, judged and counted in one pass."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.registry import SchemaVersion
from penstock.spark._counting import IS_ERROR, Figures, count_while
from penstock.spark.decoder import Decoder, RowStatus
from penstock.spark.frames import FrameStatus
from penstock.spark.giving_up import ErrorSink, Judge, file_errors
from penstock.spark.inflating import inflate_payloads
from penstock.spark.rows import BatchId, Sink

FRAMED = f"status = '{FrameStatus.FRAMED}'"
_COMPRESSED = f"{FRAMED} AND compression = 'zlib'"
# A table that gets nothing is marked twice a day all the same: whoever expires snapshots leaves
# those of a day, and so a marker of ours (docs/adr/20261121-lake-markers.md).
_MARKED_SECONDS: Final = 12 * 3_600


class PartWriter:
    """Writes parts of batches, all under the merge of the versions that are known.

    A part without rows leaves a marker in the table like any other. Behind one, parts are counted
    before they are written, and those without rows are not, until there are some again.
    """

    def __init__(self, sinks: Sequence[Sink], errors: ErrorSink) -> None:
        """Keep where to write."""
        self._sinks = tuple(sinks)
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
            judge = Judge.of_versions(decoder.versions if decoder else (), {})
            figures.refuse(file_errors(judged.filter(IS_ERROR), judge, self._errors))
        return counts["later"]
