"""Records of changes as Parquet files, as a sink connector of Kafka Connect writes them.

A file is `PATH/topics/TOPIC/batch=BATCH/partition=PARTITION/*.gz.parquet`. Once the folder of a
batch has Spark's file `_SUCCESS`, it is complete and is not written again: Kafka may have removed
some of its records meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.state.files import StateFiles

_LOG = logging.getLogger(__name__)

_COMPLETE: Final = "_SUCCESS"


@dataclass(frozen=True, slots=True)
class ChangeFiles:
    """A folder of Parquet files, each with records of one Kafka partition in their order.

    Attributes:
        path: the folder.
        most: the most records of a file.
        read: makes the rows of decoded records.
    """

    path: str
    most: int
    read: Callable[[DataFrame], DataFrame]

    def write(self, batch: ChangeBatch) -> None:
        """Write the records of a part of a batch, unless they are complete.

        Raises:
            CheckpointInUseError: another job has taken the lease.
        """
        of, part = batch.part.batch, batch.part.number
        folder = f"{self.path.rstrip('/')}/topics/{batch.topic}/batch={of.query}-{of.number}-{part}"
        files = StateFiles(batch.spark, folder)
        if _COMPLETE in files.names():
            _LOG.info("%s is complete already", folder)
            return
        rows = self.read(batch.records).withColumnRenamed("_kafka_partition", "partition")
        placed = rows.repartition("partition").sortWithinPartitions("partition", "_offset")
        writer = placed.write.mode("overwrite").partitionBy("partition")
        batch.lease.check()
        writer.option("maxRecordsPerFile", self.most).parquet(folder, compression="gzip")
        if _COMPLETE not in files.names():  # Spark may be told not to write it
            files.write(_COMPLETE, "")
