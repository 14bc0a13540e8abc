"""Small files that outlive a job, beside its checkpoint, on any file system that Hadoop knows."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.errors import CheckpointError

_ENCODING = "UTF-8"

WHAT_TO_DO: Final = (
    "restore it from a copy, or begin with a new checkpoint and --starting at the time of the "
    "last batch"
)


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
        """Read a file; None when it is not there.

        Raises:
            CheckpointError: the file system says that it is not as it was written.
        """
        path = self._path(name)
        try:
            stream = self._files.open(path)
            try:
                return str(self._java.org.apache.commons.io.IOUtils.toString(stream, _ENCODING))
            finally:
                stream.close()
        except Py4JJavaError as error:
            if _is(error, "java.io.FileNotFoundException"):
                return None
            if _is(error, "org.apache.hadoop.fs.ChecksumException"):
                raise CheckpointError(
                    f"the file {path} is not as it was written, expected its checksum; {WHAT_TO_DO}"
                ) from error
            raise

    def write(self, name: str, text: str) -> bool:
        """Write a file; False where there is one, which stays as it is.

        Raises:
            OSError: the file system refuses.
        """
        path, scratch = self._path(name), self._path(f".{name}.{uuid4().hex}.tmp")
        if self._files.exists(path):
            return False
        stream = self._files.create(scratch, False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self._files.rename(scratch, path):
            return True
        if self._files.exists(path):
            return False
        raise OSError(f"cannot write {path}: its file system refuses to rename {scratch}")

    def append(self, text: str) -> None:
        """Write a file with the next number, behind all that are there.

        Raises:
            OSError: the file system refuses.
        """
        self.write(f"{len(self.names()) + 1:020d}.json", text)

    def touch(self, name: str) -> None:
        """Write an empty file, again where it is there: what counts is the time of it."""
        self._files.create(self._path(name), True).close()

    def delete(self, name: str) -> None:
        """Delete a file, where there is one."""
        self._files.delete(self._path(name), False)

    def names(self) -> list[str]:
        """List the files, in order."""
        return sorted(self.times())

    def times(self) -> dict[str, int]:
        """List the files with the times of their last change, in the file system's milliseconds."""
        try:
            found = self._files.listStatus(self._folder)
        except Py4JJavaError as error:
            if _is(error, "java.io.FileNotFoundException"):
                return {}
            raise
        times = {str(each.getPath().getName()): int(each.getModificationTime()) for each in found}
        return {name: time for name, time in times.items() if not name.startswith(".")}

    def locate(self, name: str) -> str:
        """Say where a file is, for messages."""
        return str(self._path(name))

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self._folder, name)


def _is(error: Py4JJavaError, kind: str) -> bool:
    return kind in str(error.java_exception.getClass().getName())
