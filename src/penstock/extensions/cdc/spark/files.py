"""Records of changes as Parquet files, as a sink connector of Kafka Connect writes them.

A file is `PATH/topics/TOPIC/batch=BATCH/partition=PARTITION/*.gz.parquet`. A batch that comes again
replaces its files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from penstock.extensions.cdc.spark.sink import ChangeBatch


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
        """Write the records of a part of a batch, in place of what is there of it."""
        of, part = batch.part.batch, batch.part.number
        folder = f"{self.path.rstrip('/')}/topics/{batch.topic}/batch={of.query}-{of.number}-{part}"
        rows = self.read(batch.records).withColumnRenamed("_kafka_partition", "partition")
        placed = rows.repartition("partition").sortWithinPartitions("partition", "_offset")
        writer = placed.write.mode("overwrite").partitionBy("partition")
        writer.option("maxRecordsPerFile", self.most).parquet(folder, compression="gzip")
