"""Small files that outlive a job, beside its checkpoint, on any file system that Hadoop knows."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

_ENCODING = "UTF-8"


class StateFiles:
    """The files of one folder, local, s3:// or hdfs://; written whole or not at all."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        """Keep the folder; it comes with the first file that is written."""
        java: Any = spark.sparkContext._jvm
        self._java = java
        self._folder = java.org.apache.hadoop.fs.Path(folder)
        jsc: Any = spark.sparkContext._jsc
        self._files = self._folder.getFileSystem(jsc.hadoopConfiguration())

    def read(self, name: str) -> str | None:
        """Read a file; None when it is not there."""
        try:
            stream = self._files.open(self._path(name))
        except Py4JJavaError as error:
            if _is_missing(error):
                return None
            raise
        try:
            return str(self._java.org.apache.commons.io.IOUtils.toString(stream, _ENCODING))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file; one that is there stays as it is.

        Raises:
            OSError: the file system refuses.
        """
        path, scratch = self._path(name), self._path(f".{name}.{uuid4().hex}.tmp")
        if self._files.exists(path):
            return
        stream = self._files.create(scratch, False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if not self._files.rename(scratch, path) and not self._files.exists(path):
            raise OSError(f"cannot write {path}: its file system refuses to rename {scratch}")

    def delete(self, name: str) -> None:
        """Delete a file, where there is one."""
        self._files.delete(self._path(name), False)

    def names(self) -> list[str]:
        """List the files, in order."""
        try:
            found = self._files.listStatus(self._folder)
        except Py4JJavaError as error:
            if _is_missing(error):
                return []
            raise
        names = (str(status.getPath().getName()) for status in found)
        return sorted(name for name in names if not name.startswith("."))

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self._folder, name)


def _is_missing(error: Py4JJavaError) -> bool:
    return "java.io.FileNotFoundException" in str(error.java_exception.getClass().getName())
