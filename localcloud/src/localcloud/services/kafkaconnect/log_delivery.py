"""The log of a worker, delivered to CloudWatch Logs while it grows."""

from __future__ import annotations

import time
from pathlib import Path

from moto.logs.models import logs_backends

from localcloud.services.kafkaconnect.model import Connector

_MAX_LINE = 250_000


class LogDelivery:
    """Delivers the new lines of a log each time that it is asked to."""

    def __init__(self, connector: Connector, log: Path) -> None:
        delivery = connector.settings.get("logDelivery", {}).get("workerLogDelivery", {})
        watched = delivery.get("cloudWatchLogs", {})
        self._group = watched["logGroup"] if watched.get("enabled") else None
        self._logs = logs_backends[connector.account][connector.region]
        self._stream, self._log, self._read = connector.id, log, 0

    def deliver(self) -> None:
        """Deliver the whole lines that were added; a deleted log group gets none."""
        if self._group not in self._logs.groups or not self._log.exists():
            return
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = log.read().rpartition(b"\n")[0]
        if not lines:
            return
        self._read += len(lines) + 1
        if self._stream not in self._logs.groups[self._group].streams:
            self._logs.create_log_stream(self._group, self._stream)
        at = int(time.time() * 1_000)
        texts = [line[:_MAX_LINE] for line in lines.decode(errors="replace").splitlines() if line]
        events = [{"timestamp": at, "message": text} for text in texts]
        self._logs.put_log_events(self._group, self._stream, events)
