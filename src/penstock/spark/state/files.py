"""Small files that outlive a job, beside its checkpoint, on any Hadoop file system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.errors import (
    CheckpointError,
    CheckpointInUseError,
    SettingsError,
    SinkAccessDeniedError,
)

_ENCODING = "UTF-8"
_CONDITIONAL: Final = "fs.option.create.conditional.overwrite"  # S3A has it since Hadoop 3.4.2
_CONFLICT: Final = "org.apache.hadoop.fs.s3a.RemoteFileChangedException"
_DENIED: Final = "java.nio.file.AccessDeniedException"
_NO_BUCKET: Final = "org.apache.hadoop.fs.s3a.UnknownStoreException"
_NO_SCHEME: Final = "org.apache.hadoop.fs.UnsupportedFileSystemException"

COMPLETE: Final = "_SUCCESS"  # Spark's mark of a folder that a job has written whole
WHAT_TO_DO: Final = (
    "restore it from a copy, or begin with a new checkpoint and --starting at offsets before which "
    "the tables lack no record"
)


class StateFiles:
    """The files of one folder, local, s3:// or hdfs://; each is written whole or not at all.

    The first file that is written creates the folder.

    Raises (also when files are read, written, listed and deleted):
        SettingsError: the bucket does not exist, or Spark does not know the scheme.
        SinkAccessDeniedError: the file system denies access.
    """

    def __init__(self, spark: SparkSession, folder: str) -> None:
        java: Any = spark.sparkContext._jvm
        # By whole names: for each package in `java.org.apache`, py4j would search every jar.
        self._new_path = getattr(java, "org.apache.hadoop.fs.Path")
        self._to_text = getattr(java, "org.apache.commons.io.IOUtils").toString
        self._folder = self._new_path(folder)
        jsc: Any = spark.sparkContext._jsc
        with _explain_refusal(folder):
            self._files = self._folder.getFileSystem(jsc.hadoopConfiguration())

    @property
    def folder(self) -> str:
        """The path of the folder, for messages."""
        return str(self._folder)

    def read(self, name: str) -> str | None:
        """Return the text of a file; None if it is missing.

        Raises:
            CheckpointError: the checksum of the file does not match.
        """
        path = self._path(name)
        with _explain_refusal(path):
            try:
                return self._read_path(path)
            except Py4JJavaError as error:
                if _is(error, "java.io.FileNotFoundException"):
                    return None
                if _is(error, "org.apache.hadoop.fs.ChecksumException"):
                    raise CheckpointError(
                        f"the file {path} does not match its checksum; {WHAT_TO_DO}"
                    ) from error
                raise

    def _read_path(self, path: Any) -> str:
        stream = self._files.open(path)
        try:
            return str(self._to_text(stream, _ENCODING))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a new file.

        Raises:
            CheckpointInUseError: the file exists, so another job has written it.
            OSError: the file system refuses.
        """
        path = self._path(name)
        with _explain_refusal(path):
            if self._files.hasPathCapability(path, _CONDITIONAL):
                self._create(name, text)
                return
            scratch = self._path(f".{name}.{uuid4().hex}.tmp")
            self._check_missing(path)
            _fill(self._files.create(scratch, False), text)
            if not self._files.rename(scratch, path):
                self._check_missing(path)
                raise OSError(f"cannot write {path}: its file system refuses to rename {scratch}")

    def _create(self, name: str, text: str) -> None:
        """Write a new file of an object store, which refuses the second of two writers.

        There, a rename is a copy, and two drivers that rename at once would both succeed.
        """
        path = self._path(name)
        try:
            builder = self._files.createFile(path).recursive().must(_CONDITIONAL, True)
            _fill(builder.build(), text)
        except Py4JJavaError as error:
            if not _is(error, _CONFLICT):
                raise
            # The response to a first try may have been lost.
            if self.read(name) != text:
                raise _in_use(path) from error

    def replace(self, text: str, names: Sequence[str] | None = None) -> None:
        """Write a file whose name is the number after the last one, and delete those before it.

        The last file is whole at any time. `names` are those of the files that were there, by
        default those that are there now.

        Raises:
            CheckpointInUseError: another job has written that file.
            OSError: the file system refuses.
        """
        found = self.names() if names is None else names
        numbers = [int(name.removesuffix(".json")) for name in found]
        self.write(f"{max(numbers, default=0) + 1:020d}.json", text)
        for name in found:
            self.delete(name)

    def read_last(self) -> tuple[str, str] | None:
        """Return name and text of the last file, which another job may replace at any time."""
        while names := self.names():
            if (text := self.read(names[-1])) is not None:
                return names[-1], text
        return None

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        path = self._path(name)
        with _explain_refusal(path):
            self._files.delete(path, False)

    def delete_all(self) -> None:
        """Delete the folder with all its files."""
        with _explain_refusal(self._folder):
            self._files.delete(self._folder, True)

    def find(self, pattern: str) -> list[str]:
        """Return the paths of folders below that match a pattern, such as `query=*/batch=*`."""
        path = self._path(pattern)
        with _explain_refusal(path):
            found = self._files.globStatus(path) or ()
        return sorted(str(each.getPath().toUri().getPath()) for each in found)

    def names(self) -> list[str]:
        """Return the names of the files, in order."""
        with _explain_refusal(self._folder):
            try:
                found = self._files.listStatus(self._folder)
            except Py4JJavaError as error:
                if _is(error, "java.io.FileNotFoundException"):
                    return []
                raise
        names = (str(each.getPath().getName()) for each in found)
        return sorted(name for name in names if not name.startswith("."))

    def is_complete(self) -> bool:
        """Return whether Spark, or `complete`, has marked the folder as complete."""
        return COMPLETE in self.names()

    def complete(self) -> None:
        """Mark the folder as complete, if Spark was told not to."""
        if not self.is_complete():
            self.write(COMPLETE, "")

    def locate(self, name: str) -> str:
        """Return the path of a file, for messages."""
        return str(self._path(name))

    def _check_missing(self, path: Any) -> None:
        if self._files.exists(path):
            raise _in_use(path)

    def _path(self, name: str) -> Any:
        return self._new_path(self._folder, name)


def read_text(spark: SparkSession, url: str) -> str:
    """Return the text of a file on any file system that Spark knows, without a Spark job.

    Raises:
        SettingsError: there is no such file or bucket, or Spark does not know the scheme.
        SinkAccessDeniedError: the file system denies access.
    """
    folder, slash, name = url.rpartition("/")
    text = StateFiles(spark, folder + slash or ".").read(name)
    if text is None:
        raise SettingsError([f"found no file {url}, expected one that Spark can read"])
    return text


def write_text(spark: SparkSession, url: str, text: str) -> None:
    """Write a file on any file system that Spark knows, in place of an earlier one.

    Raises:
        SettingsError: there is no such bucket, or Spark does not know the scheme.
        SinkAccessDeniedError: the file system denies access.
    """
    folder, _, name = url.rpartition("/")
    files = StateFiles(spark, folder)
    files.delete(name)
    files.write(name, text)


@contextmanager
def _explain_refusal(path: Any) -> Iterator[None]:
    """Explain what an operator must mend; other errors, as those of an outage, stay as they are."""
    try:
        yield
    except Py4JJavaError as error:
        found = f"{path} cannot be used: {error.java_exception.getMessage()}"
        if _is(error, _DENIED):
            raise SinkAccessDeniedError(
                f"{found}; expected a role that may list, read and write there: give the job's "
                "role the permissions, or correct the path"
            ) from error
        if _is(error, _NO_BUCKET) or _is(error, _NO_SCHEME):
            expected = "a bucket that exists and a scheme that Spark knows: correct the path"
            raise SettingsError([f"{found}, expected {expected}"]) from error
        raise


def _fill(stream: Any, text: str) -> None:
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _in_use(path: Any) -> CheckpointInUseError:
    return CheckpointInUseError(
        f"{path} is there already, expected no other job that works with the checkpoint; end one "
        "of the two"
    )


def _is(error: Py4JJavaError, kind: str) -> bool:
    return kind in str(error.java_exception.getClass().getName())
