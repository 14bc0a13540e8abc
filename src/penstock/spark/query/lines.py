"""Print one line for each batch of a streaming query, once Spark has the batch's progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from pyspark.sql import SparkSession

from penstock.attempts import Attempts

Counts = TypeVar("Counts")
_REPORTED: Final = Attempts(0.05, 0.05, 60)


class BatchLines(Generic[Counts]):
    """Prints the lines that `write` makes of the progress of a batch and of its own counts.

    It listens from the first batch of its query until the query ends. It takes the progress as
    Spark's JSON: PySpark's listener makes a hundred calls to the JVM for each batch, 0.1 s in all.
    """

    def __init__(
        self,
        spark: SparkSession,
        write: Callable[[Mapping[str, Any], Counts], str],
        say: Callable[[str], None] = print,
    ) -> None:
        self._spark: Any = spark
        self._write = write
        self._say = say
        self._counts: dict[int, Counts] = {}
        self._query = self._run = ""
        self._listener: Any = None

    def add(self, query: str, batch: int, counts: Counts) -> None:
        """Add the counts of a batch that was written."""
        self._counts[batch] = counts
        if not self._query:
            self._query = query
            streaming = self._spark.sparkContext._jvm.org.apache.spark.sql.streaming
            self._listener = streaming.PythonStreamingQueryListenerWrapper(self)
            self._spark.streams._jsqm.addListener(self._listener)

    def wait(self) -> None:
        """Wait for the lines of batches that are over; Spark reports them a moment later."""
        any(not self._counts for _ in _REPORTED)

    def onQueryStarted(self, event: Any) -> None:
        """Note a run that follows another one. Names and arguments of these methods are Spark's."""
        if event.id().toString() == self._query:
            self._run = event.runId().toString()

    def onQueryProgress(self, event: Any) -> None:
        """Print the line of a batch; triggers that found nothing to read have none."""
        progress = json.loads(event.progress().json())
        batch = progress["batchId"]
        if progress["id"] == self._query and batch in self._counts:
            self._say(self._write(progress, self._counts[batch]))
            del self._counts[batch]  # after the line, for which `wait` waits

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing."""

    def onQueryTerminated(self, event: Any) -> None:
        """Listen no longer; the caller that awaits the query reports why it ended."""
        is_last = self._run in ("", event.runId().toString())
        if event.id().toString() == self._query and is_last:
            self._counts.clear()  # of a batch that was stopped, which Spark does not report
            self._spark.streams._jsqm.removeListener(self._listener)
            self._query = self._run = ""

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)
