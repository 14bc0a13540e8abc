"""Run the writes of a batch concurrently, so that no sink waits for the service of another."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from pyspark import InheritableThread
from pyspark.sql import SparkSession

_LOG = logging.getLogger(__name__)


class _Run(InheritableThread):
    """A function in a thread with the local properties of the thread that starts it.

    So its Spark jobs belong to the query, and end with the query.
    """

    def __init__(self, session: SparkSession, function: Callable[[], object]) -> None:
        super().__init__(self._call, daemon=True)
        self._of, self._function = session, function
        self.error: BaseException | None = None

    def _call(self) -> None:
        try:
            _set_active(self._of)
            self._function()
        except BaseException as error:  # the caller raises it
            self.error = error


def run_concurrently(session: SparkSession, functions: Sequence[Callable[[], object]]) -> None:
    """Run functions concurrently, and return after all have ended, even if some have failed.

    Raises:
        Exception: of the first function in their order that failed; others are logged.
    """
    if len(functions) < 2:
        for function in functions:
            function()
        return
    runs = [_Run(session, each) for each in functions]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    errors = [run.error for run in runs if run.error is not None]
    for error in errors[1:]:
        _LOG.warning("another sink failed too: %s", error)
    if errors:
        raise errors[0]


def _set_active(session: SparkSession) -> None:
    """Make a session the active one of this thread, as it is in the thread of its query."""
    jvm: Any = session._jvm
    kind = getattr(jvm, "org.apache.spark.sql.classic.SparkSession")
    kind.setActiveSession(session._jsparkSession)
