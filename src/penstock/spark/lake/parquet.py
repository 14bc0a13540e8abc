"""Write rows to plain Parquet files, for readers that do not support Iceberg.

A part is a folder, `PATH/query=QUERY/batch=NUMBER/part=PART`. Once it has Spark's file `_SUCCESS`,
it is complete and is not written again: Kafka may have deleted some of its records meanwhile. A
reader that lists files before the batch is over sees only some of them. A field that is a whole
number in one batch may be a double in the next.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from penstock.errors import Reason
from penstock.spark.lake.columns import merge_columns
from penstock.spark.lake.conversion import EventTime, project_event, quote
from penstock.spark.rows import event_type
from penstock.spark.state.files import StateFiles
from penstock.tables import COORDINATES, EVENT_TIME, BatchId

_LOG = logging.getLogger(__name__)

_EVENT_TIME: Final = EventTime()
_COMPLETE: Final = "_SUCCESS"


class ParquetFiles:
    """A folder of Parquet files with the columns of the lake.

    `event_time` is the time of an event, as in the lake.
    """

    def __init__(self, path: str, event_time: EventTime = _EVENT_TIME) -> None:
        self.path = path.rstrip("/")
        self._event_time = event_time

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write the rows of a part of a batch, unless it is complete."""
        folder = f"{self.path}/query={batch.query}/batch={batch.number}/part={part}"
        if _COMPLETE in StateFiles(rows.sparkSession, folder).names():
            _LOG.info("%s is complete already", folder)
            return {}
        event = event_type(rows)
        values = project_event(event, merge_columns(StructType(), event))
        rows.selectExpr(
            f"{self._event_time.write(event)} AS {EVENT_TIME}",
            *COORDINATES,
            *(f"{value} AS {quote(name)}" for name, value in values.items()),
        ).write.mode("overwrite").parquet(folder)
        return {}
