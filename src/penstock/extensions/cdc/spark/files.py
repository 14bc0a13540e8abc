"""Records of changes as Parquet files, as a sink connector of Kafka Connect writes them.

A file is `PATH/topics/TOPIC/batch=BATCH/partition=PARTITION/*.gz.parquet`. Once the folder of a
batch has Spark's file `_SUCCESS`, it is complete and is not written again: Kafka may have removed
some of its records meanwhile. The file `_offsets` has the digest of the batch's offsets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from penstock.errors import CheckpointError
from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.state.files import StateFiles
from penstock.tables import BatchId

_LOG = logging.getLogger(__name__)

_OFFSETS: Final = "_offsets"


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
            CheckpointError: the batch was complete with other offsets.
        """
        of, part = batch.part.batch, batch.part.number
        folder = f"{self.path.rstrip('/')}/topics/{batch.topic}/batch={of.query}-{of.number}-{part}"
        files = StateFiles(batch.spark, folder)
        if files.is_complete():
            _check_offsets(folder, files.read(_OFFSETS), of)
            _LOG.info("%s is complete already", folder)
            return
        rows = self.read(batch.records).withColumnRenamed("_kafka_partition", "partition")
        placed = rows.repartition("partition").sortWithinPartitions("partition", "_offset")
        writer = placed.write.mode("overwrite").partitionBy("partition")
        batch.lease.check()
        writer.option("maxRecordsPerFile", self.most).parquet(folder, compression="gzip")
        files.write(_OFFSETS, of.digest)
        files.complete()


def _check_offsets(folder: str, written: str | None, batch: BatchId) -> None:
    """Raise CheckpointError if a folder has other records than the checkpoint says."""
    if difference := batch.find_difference(written or ""):
        raise CheckpointError(
            f"{folder} has records {difference}; start again with an empty checkpoint and the "
            "offsets that follow what the folders have"
        )
