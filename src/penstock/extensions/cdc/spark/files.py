"""Records of changes as Parquet files, as a sink connector of Kafka Connect writes them.

A file is `PATH/topics/TOPIC/batch=BATCH/partition=PARTITION/*.gz.parquet`. The folder of a batch is
written once (`penstock.spark.state.folders`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.state.files import StateFiles
from penstock.spark.state.folders import check_offsets, complete_folder

_LOG = logging.getLogger(__name__)


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
            check_offsets(files, of)
            _LOG.info("%s is complete already", folder)
            return
        rows = self.read(batch.records).withColumnRenamed("_kafka_partition", "partition")
        placed = rows.repartition("partition").sortWithinPartitions("partition", "_offset")
        writer = placed.write.mode("overwrite").partitionBy("partition")
        batch.lease.check()
        writer.option("maxRecordsPerFile", self.most).parquet(folder, compression="gzip")
        complete_folder(files, of)
