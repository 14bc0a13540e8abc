"""Run the writes of a batch concurrently, so that no sink waits for the service of another.

Sinks of a table have a thread each. Tables share a few lanes: threads with a session of their own,
since Iceberg takes the id of an append from the settings of its session.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pyspark import InheritableThread
from pyspark.sql import DataFrame, SparkSession

from penstock.spark.active_session import set_active

_LOG = logging.getLogger(__name__)
_LANES: Final = 4


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
            set_active(self._of)
            self._function()
        except BaseException as error:  # the caller raises it
            self.error = error


def run_concurrently(session: SparkSession, functions: Sequence[Callable[[], object]]) -> None:
    """Run functions concurrently, a few at once; return after all, even if some have failed.

    Raises:
        Exception: of the first function in their order that failed; others are logged.
    """
    if len(functions) < 2:
        for function in functions:
            function()
        return
    shares = [functions[at::_LANES] for at in range(min(_LANES, len(functions)))]
    _run_all([_Run(session, partial(_call_all, each)) for each in shares])


def _call_all(functions: Sequence[Callable[[], object]]) -> None:
    for function in functions:
        function()


class Lanes:
    """Takes the same rows to several tables at once, a table always in the same lane."""

    def __init__(self) -> None:
        self._session: Any = None  # whose clones the lanes have
        self._lanes: list[SparkSession] = []
        self._lane_of: dict[str, int] = {}

    def run(self, rows: DataFrame, writes: Mapping[str, Callable[[DataFrame], object]]) -> None:
        """Run the writes of tables; return after all lanes have ended, even if some have failed.

        Raises:
            Exception: as `run_concurrently` does. A lane ends with its first error.
        """
        if len(writes) < 2 and not writes.keys() & self._lane_of.keys():
            for write in writes.values():
                write(rows)
            return
        self._open(rows.sparkSession, len(writes))
        by_lane: list[list[Callable[[DataFrame], object]]] = [[] for _ in self._lanes]
        for name, write in writes.items():
            lane = self._lane_of.setdefault(name, len(self._lane_of))
            by_lane[lane % len(by_lane)].append(write)
        _run_all(
            [
                _Run(lane, partial(_write_all, rows, lane, own))
                for lane, own in zip(self._lanes, by_lane, strict=True)
                if own
            ]
        )

    def _open(self, session: SparkSession, tables: int) -> None:
        """Open the lanes of a session; each query has one session for all of its batches."""
        if session._jsparkSession != self._session:
            self._session, self._lanes = session._jsparkSession, []
        for _ in range(len(self._lanes), min(_LANES, max(tables, len(self._lane_of)))):
            self._lanes.append(_clone(session))


def _write_all(
    rows: DataFrame, lane: SparkSession, writes: Sequence[Callable[[DataFrame], object]]
) -> None:
    jvm: Any = lane._jvm
    dataset = getattr(jvm, "org.apache.spark.sql.classic.Dataset")
    plan = rows._jdf.queryExecution().analyzed()
    own = DataFrame(dataset.ofRows(lane._jsparkSession, plan), lane)
    for write in writes:
        write(own)


def _clone(session: SparkSession) -> SparkSession:
    """Return a session with the settings, views and listeners of another one."""
    made: Any = session._jsparkSession
    return SparkSession(session.sparkContext, made.cloneSession())


def _run_all(runs: Sequence[_Run]) -> None:
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    errors = [run.error for run in runs if run.error is not None]
    for error in errors[1:]:
        _LOG.warning("another sink failed too: %s", error)
    if errors:
        raise errors[0]
