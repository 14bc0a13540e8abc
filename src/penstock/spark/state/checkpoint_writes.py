"""Choose how Spark writes the files of a checkpoint: without renames where the store allows it.

By default Spark writes a file under another name and renames it, which on S3 is a copy, a delete
and some looks. An upload to S3 is invisible until it is complete, so there Spark may write the file
itself, and abort the upload if it fails (`spark-hadoop-cloud`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import SparkSession

_SETTING: Final = "spark.sql.streaming.checkpointFileManagerClass"
_MANAGER: Final = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
_ABORTABLE: Final = "fs.capability.outputstream.abortable"


@contextmanager
def checkpoint_without_renames(spark: SparkSession, folder: str) -> Iterator[None]:
    """Let a query that starts meanwhile write its checkpoint without renames if it can.

    A setting of the user stays.
    """
    if spark.conf.get(_SETTING, None) is not None or not _is_possible(spark, folder):
        yield
        return
    spark.conf.set(_SETTING, _MANAGER)
    try:
        yield
    finally:
        spark.conf.unset(_SETTING)


def _is_possible(spark: SparkSession, folder: str) -> bool:
    """Return whether uploads can be aborted, by both of Hadoop's interfaces, and the jar is there.

    EMR's own file system can do neither.
    """
    java: Any = spark.sparkContext._jvm
    jsc: Any = spark.sparkContext._jsc
    path = getattr(java, "org.apache.hadoop.fs.Path")(folder)
    files = path.getFileSystem(jsc.hadoopConfiguration())
    by_context = f"fs.AbstractFileSystem.{files.getScheme()}.impl"
    return bool(
        files.hasPathCapability(path, _ABORTABLE)
        and jsc.hadoopConfiguration().get(by_context)
        and getattr(java, "org.apache.spark.util.Utils").classIsLoadable(_MANAGER)
    )
