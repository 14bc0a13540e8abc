"""Which job may work with a checkpoint: one at a time, on any file system.

In the checkpoint's folder `penstock-owner` each job has two files:

| file              | holds                                                                     |
| ----------------- | ------------------------------------------------------------------------- |
| `NUMBER-RUN.json` | its claim: who it is; of several the one with the highest name counts     |
| `NUMBER-RUN.beat` | nothing, written again every few seconds: the time that it was changed is |
|                   | a sign of life                                                            |

No clocks are compared and nothing has to be atomic but the appearance of a file: who wants to start
watches whether the files of others change, and who works looks before each write whether its claim
is still the highest (docs/adr/20261121-one-job-a-checkpoint.md).
"""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import CheckpointTakenError, Reason
from penstock.spark.rows import Sink
from penstock.spark.state.files import StateFiles
from penstock.spark.state.process import describe_driver, has_ended
from penstock.tables import BatchId

_LOG = logging.getLogger(__name__)
_FOLDER: Final = "penstock-owner"
_BEAT_SECONDS: Final = 5
_PATIENCE_SECONDS: Final = 20
_LOOK_SECONDS: Final = 0.25
_FAILURES: Final = (PySparkException, Py4JError, OSError)


class Lease:
    """The right of this job to work with a checkpoint, until its query ends or another takes it."""

    def __init__(self, files: StateFiles, folder: str, name: str) -> None:
        """Keep the claim that was made; `claim` makes one."""
        self._files = files
        self._folder = folder
        self._name = name
        self._query: StreamingQuery | None = None
        self._given_up = False
        self._seen = ""
        self._woken = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="lease", daemon=True)

    @classmethod
    def claim(cls, spark: SparkSession, folder: str) -> Self:
        """Claim a checkpoint; after a job that was killed elsewhere this takes some seconds.

        Raises:
            CheckpointTakenError: another job works with it.
        """
        files = StateFiles(spark, f"{folder}/{_FOLDER}")
        left = _wait_for_silence(files, folder)
        number = max((int(name.partition("-")[0]) for name in left), default=0) + 1
        lease = cls(files, folder, f"{number:020d}-{uuid4().hex}")
        who = {**describe_driver(spark), "since": datetime.now(UTC).isoformat(timespec="seconds")}
        lease._give_sign()
        files.write(f"{lease._name}.json", json.dumps(who))
        others = _claims(files).keys() - left - {lease._name}
        if others:
            lease._withdraw()
            raise CheckpointTakenError(
                f"another job began to work with the checkpoint {folder} at the same moment: "
                f"{_describe(files, max(others))}; see whether it runs, and start one alone"
            )
        for name in left:
            _delete(files, name)
        lease._keeper.start()
        return lease

    def __enter__(self) -> Self:
        """Hold the claim while the query is being started."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the claim up, where no query began to need it."""
        if self._query is None:
            self._given_up = True
        self._woken.set()
        if self._given_up:
            # A driver that ends now must not leave its claim to the next one.
            self._keeper.join(_BEAT_SECONDS)

    def keep_for(self, query: StreamingQuery) -> None:
        """Keep the claim until this query ends."""
        self._query = query
        self._woken.set()
        # So that the next run need not find out that this one is gone.
        atexit.register(self._keeper.join, _BEAT_SECONDS)

    def check(self, what: str = "nothing more is written") -> None:
        """Look whether the checkpoint is still this job's.

        Raises:
            CheckpointTakenError: another job has claimed it, or the claim is gone; the sentence
                ends in `what`.
        """
        claims = _claims(self._files)
        if self._name in claims and self._name == max(claims):
            return
        others = claims.keys() - {self._name}
        found = (
            f"the checkpoint {self._folder} is another job's by now: "
            f"{_describe(self._files, max(others))}"
            if others
            else f"the claim of this job is gone, {self._files.locate(f'{self._name}.json')}, and "
            "no other is there"
        )
        raise CheckpointTakenError(
            f"{found}; the last sign of life of this one was at {self._seen}; {what}"
        )

    def _keep(self) -> None:
        """Give signs of life; a thread of its own does this."""
        try:
            while not self._is_over():
                self._beat()
        except _FAILURES:
            pass  # the query ended with an error, which whoever waits for it tells
        self._withdraw()

    def _is_over(self) -> bool:
        if self._query is None:
            self._woken.wait(_BEAT_SECONDS)
        if self._given_up:
            return True
        return self._query is not None and bool(self._query.awaitTermination(_BEAT_SECONDS))

    def _beat(self) -> None:
        try:
            if self._name in _claims(self._files):
                self._give_sign()
        except _FAILURES as error:
            _LOG.warning("no sign of life in %s: %s", self._folder, error)

    def _give_sign(self) -> None:
        self._files.touch(f"{self._name}.beat")
        self._seen = datetime.now(UTC).isoformat(timespec="seconds")

    def _withdraw(self) -> None:
        try:
            _delete(self._files, self._name)
        except _FAILURES as error:
            _LOG.warning("the claim in %s stays behind: %s", self._folder, error)


@dataclass(frozen=True, slots=True)
class LeasedSink:
    """A sink that is written to while the checkpoint is this job's."""

    sink: Sink
    lease: Lease

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write as the sink does.

        Raises:
            CheckpointTakenError: another job has taken the checkpoint over.
        """
        self.lease.check()
        refused = self.sink.write(rows, batch, part)
        # Between the look before and the commit a job may have slept for any time.
        self.lease.check(
            f"it was writing part {part} of batch {batch.number} of query {batch.query} meanwhile, "
            "see whether a table has that part twice"
        )
        return refused


def _wait_for_silence(files: StateFiles, folder: str) -> set[str]:
    """Wait until those who claimed before are gone; give their claims."""
    first = _claims(files)
    claims = first
    until = time.monotonic() + _PATIENCE_SECONDS
    while alive := [name for name in claims if not has_ended(_read(files, name))]:
        # A name that came since then is a sign of life too.
        changed = [name for name in alive if claims[name] != first.get(name)]
        if changed:
            raise CheckpointTakenError(
                f"another job works with the checkpoint {folder}: "
                f"{_describe(files, max(changed))}; end that one first, or leave it be"
            )
        if time.monotonic() > until:
            _LOG.warning("%s is taken over: %s is silent", folder, _describe(files, max(alive)))
            break
        time.sleep(_LOOK_SECONDS)
        claims = _claims(files)
    return set(claims)


def _claims(files: StateFiles) -> dict[str, int]:
    """List the claims, each with the time of its last sign of life."""
    times = files.times()
    claims = (name.removesuffix(".json") for name in times if name.endswith(".json"))
    return {name: times.get(f"{name}.beat", 0) for name in claims}


def _delete(files: StateFiles, name: str) -> None:
    files.delete(f"{name}.json")
    files.delete(f"{name}.beat")


def _read(files: StateFiles, name: str) -> Any:
    try:
        return json.loads(files.read(f"{name}.json") or "{}")
    except ValueError:
        return {}


def _describe(files: StateFiles, name: str) -> str:
    who = _read(files, name)
    try:
        ids = " and ".join(who["processes"])
        return f"the one with the processes {ids} on {who['host']} since {who['since']}"
    except (KeyError, TypeError):
        return f"the one of the claim {name}"
