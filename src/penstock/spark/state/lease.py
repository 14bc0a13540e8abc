"""The lease of a checkpoint: only one job at a time may use it.

The lease is a row of the dead-letter table of the checkpoint's first start, whose name is in a file
beside it. No clocks are compared: a job that starts watches whether the holder's heartbeats
continue, and each change is a conditional write (docs/adr/0014-lease-and-fence.md).

| attribute      | holds                                                                       |
| -------------- | --------------------------------------------------------------------------- |
| `id`           | `lease/` and the name of the lease, such as the URL of a checkpoint         |
| `holder`       | the run that holds the lease; missing if none does                          |
| `beat`         | the number of heartbeats so far                                             |
| `fence`        | the fencing number, which each run that takes the lease increases by one    |
| `leaseSeconds` | seconds without a heartbeat after which another run may take the lease      |
| `driver`       | the holder's host, process and start time, for messages                     |
| `expiresAt`    | the time when DynamoDB deletes the row (TTL); each heartbeat extends it     |
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import CheckpointInUseError, SinkError
from penstock.sinks import DynamoDbClient, RowAddress, read_rows, update_row
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.state.files import StateFiles

LEASE_PREFIX: Final = "lease/"  # topic names have no slash, so no dead letter has such an id

_LOG = logging.getLogger(__name__)
_LOOKS: Final = 20  # reads of the row in the seconds of a lease
_KEPT_SECONDS: Final = 30 * 86_400
_TABLE: Final = "table"  # the file of a checkpoint that names the table of its lease
_FAILURES: Final = (PySparkException, Py4JError, OSError)
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on in a sleep
_SURE: Final = 0.5  # of a lease, after a heartbeat was sent
_TAKE: Final = (
    "SET #holder = :me, #driver = :driver, #beat = :zero, #leaseSeconds = :seconds, "
    "#expiresAt = :expires, #fence = if_not_exists(#fence, :zero) + :one"
)
_HELD: Final = "#holder = :me"


class LeaseRow:
    """The row of one lease, as one run sees it; not thread-safe."""

    def __init__(self, table: str, name: str, me: str) -> None:
        self._address = RowAddress.of(table, {"id": f"{LEASE_PREFIX}{name}"})
        self._me = me
        self._client = DynamoDbClient()

    def read(self) -> dict[str, Any]:
        """Return the row; empty if it is missing."""
        return read_rows(self._client, [self._address]).get(self._address, {})

    def acquire(self, found: Mapping[str, Any], driver: str, seconds: float) -> int | None:
        """Take the lease as found; return its fencing number, or None if another was faster."""
        values = {":driver": driver, ":seconds": seconds, ":zero": 0, ":one": 1}
        condition = "attribute_not_exists(#holder)"
        if "holder" in found:
            values |= {":old": found["holder"], ":beat": int(found["beat"])}
            condition = "#holder = :old AND #beat = :beat"
        self._update(_TAKE, condition, values)
        # The row tells who has it: the answer to a first try of the update may have been lost.
        row = self.read()
        return int(row["fence"]) if row.get("holder") == self._me else None

    def beat(self) -> bool:
        """Write a heartbeat; return False if this run does not hold the lease."""
        return self._update("SET #expiresAt = :expires ADD #beat :one", _HELD, {":one": 1})

    def release(self) -> None:
        """Release the lease if this run holds it, so that others can take it immediately."""
        self._update("SET #expiresAt = :expires REMOVE #holder, #driver", _HELD, {})

    def _update(self, update: str, condition: str, values: Mapping[str, Any]) -> bool:
        expires = int(time.time()) + _KEPT_SECONDS
        values = {":me": self._me, ":expires": expires, **values}
        return update_row(self._client, self._address, update, condition, values)


class Lease:
    """The right of this run to use a checkpoint, until it ends or another run takes it over."""

    def __init__(self, table: str, name: str, settings: LeaseSettings) -> None:
        me = uuid4().hex
        self._name = name
        self._settings = settings
        self._row = LeaseRow(table, name, me)
        self._beats = LeaseRow(table, name, me)  # a connection serves one thread
        self._looking = threading.Lock()
        self._query: StreamingQuery | None = None
        self._is_over = False
        self._seen = ""
        self._held_until = 0.0
        self._woken = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="lease", daemon=True)
        self.fence = 0

    @classmethod
    def claim(cls, table: str, name: str, settings: LeaseSettings) -> Self:
        """Take a lease; if its holder was killed, wait until the holder's lease expires.

        Args:
            table: the dead-letter table.
            name: the lease's name, the same for all jobs of which only one may run.
            settings: how long a lease lasts without a heartbeat.

        Raises:
            CheckpointInUseError: another job holds it.
        """
        lease = cls(table, name, settings)
        found = lease._wait_for_silence()
        began, until = _now(), lease._sure_until()
        driver = f"process {os.getpid()} on {socket.gethostname()} since {began}"
        fence = lease._row.acquire(found, driver, settings.lease_seconds)
        if fence is None:
            raise CheckpointInUseError(
                f"another job took the lease of {name} at the same moment: "
                f"{_describe_holder(lease._row.read())}; see whether it runs, and start one alone"
            )
        lease.fence, lease._seen, lease._held_until = fence, began, until
        lease._keeper.start()
        return lease

    def __enter__(self) -> Self:
        """Hold the lease while the query starts."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lease if no query has started to use it."""
        self._is_over = self._query is None
        self._woken.set()
        if self._is_over:
            # If the driver ends now, the next one must not find the lease held.
            self._keeper.join(self._settings.heartbeat_seconds)

    def keep_for(self, query: StreamingQuery) -> None:
        """Hold the lease until this query ends."""
        self._query = query
        self._woken.set()
        # Wait for the release at exit, so that the next run need not wait for the lease to expire.
        atexit.register(self._keeper.join, self._settings.heartbeat_seconds)

    def check(self) -> None:
        """Check that this run holds the lease.

        Nobody can take it until it had no heartbeat for its whole length. So the check is free for
        half of it after the last heartbeat was sent, and is a heartbeat of its own from then on.

        Raises:
            CheckpointInUseError: another run took it, or its row was deleted.
        """
        with self._looking:
            if _clock() < self._held_until or self._beat_by(self._row):
                return
            found = self._row.read()
        now = f"{_describe_holder(found)} holds it" if "holder" in found else "no job holds it now"
        raise CheckpointInUseError(
            f"this job has lost the lease of {self._name}: {now}; the last heartbeat of this one "
            f"was at {self._seen}; nothing more is written"
        )

    def _wait_for_silence(self) -> dict[str, Any]:
        """Wait until no holder sends heartbeats; return the row as it is then."""
        first = row = self._row.read()
        seconds = float(first.get("leaseSeconds", self._settings.lease_seconds))
        until = time.monotonic() + seconds
        while "holder" in row:
            if (row["holder"], row["beat"]) != (first["holder"], first["beat"]):
                raise CheckpointInUseError(
                    f"another job holds the lease of {self._name}: {_describe_holder(row)}; end "
                    "that one first, or do not start this one"
                )
            if time.monotonic() > until:
                _LOG.warning(
                    "the lease of %s is taken over: %s gave no heartbeat for %g s",
                    *(self._name, _describe_holder(row), seconds),
                )
                break
            time.sleep(seconds / _LOOKS)
            row = self._row.read()
        return row

    def _keep(self) -> None:
        """Send heartbeats until the query ends; runs in a separate thread."""
        try:
            while not self._has_ended():
                self._beat()
        except _FAILURES:
            pass  # the query failed; the caller that awaits it gets the error
        try:
            self._beats.release()
        except SinkError as error:
            _LOG.warning("the lease of %s is not released: %s", self._name, error)

    def _has_ended(self) -> bool:
        # PySpark accepts fractions of a second, although its type hints do not.
        seconds: Any = self._settings.heartbeat_seconds
        if self._query is None:
            self._woken.wait(seconds)
        if self._is_over:
            return True
        return self._query is not None and bool(self._query.awaitTermination(seconds))

    def _beat(self) -> None:
        try:
            self._beat_by(self._beats)
        except SinkError as error:
            _LOG.warning("no heartbeat for the lease of %s: %s", self._name, error)

    def _beat_by(self, row: LeaseRow) -> bool:
        """Write a heartbeat; return False if this run does not hold the lease."""
        until = self._sure_until()
        is_held = row.beat()
        if is_held:
            self._seen = _now()
        self._held_until = until if is_held else 0.0
        return is_held

    def _sure_until(self) -> float:
        return _clock() + _SURE * self._settings.lease_seconds


def name_lease(checkpoint: str) -> str:
    """Return the name of a checkpoint's lease, which is one for all URLs of a folder on S3."""
    return re.sub(r"^s3[an]://", "s3://", checkpoint.rstrip("/"))


def claim_checkpoint(
    spark: SparkSession, checkpoint: str, errors_table: str, settings: LeaseSettings
) -> Lease:
    """Take the lease of a checkpoint, which stays in the dead-letter table of its first start.

    So a second job is refused also if its dead letters go to another table.

    Raises:
        CheckpointInUseError: another job holds it.
        SinkError: the table of the lease cannot be used; it may not be the job's own.
    """
    files = StateFiles(spark, f"{checkpoint}/penstock-lease")
    name = name_lease(checkpoint)
    if files.read(_TABLE) is None:
        LeaseRow(errors_table, name, "").read()  # a wrong table must not be stored
    table = find_lease_table(files, errors_table)
    try:
        return Lease.claim(table, name, settings)
    except SinkError as error:
        if table == errors_table:
            raise
        raise type(error)(
            f"the lease of {checkpoint} is in the table {table}, as its file penstock-lease/table "
            f"says, and the job names {errors_table}: {error}; give the job permissions for "
            f"{table}, or delete that file when no job uses the checkpoint"
        ) from error


def find_lease_table(files: StateFiles, errors_table: str) -> str:
    """Return the table that the files of a checkpoint name; the first start stores its own."""
    if files.read(_TABLE) is None:
        with suppress(CheckpointInUseError):  # another job was faster
            files.write(_TABLE, errors_table)
    return files.read(_TABLE) or errors_table


class NoLease:
    """A lease that is never lost, for tests, notebooks and benchmarks without other jobs."""

    fence = 0

    def check(self) -> None:
        """Do nothing."""


def _clock() -> float:
    return time.clock_gettime(_CLOCK)


def _describe_holder(row: Mapping[str, Any]) -> str:
    return f"{row['driver']}, fence {row['fence']}" if "driver" in row else "a job that has ended"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
