"""Write a batch again while a service that it needs is down."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerUnavailableError,
    RegistryUnavailableError,
    SinkUnavailableError,
)

_LOG = logging.getLogger(__name__)
_MOST_OUTAGES: Final = 3  # of a batch
_OUTAGES: Final = (BrokerUnavailableError, RegistryUnavailableError, SinkUnavailableError)
# Of Iceberg, which calls Glue and S3 by AWS's SDK, and of Hadoop; both SDKs name the status.
_OUTAGE_OF_JAVA: Final = re.compile(
    r"^.*(?:Status Code: (?:5\d\d|429)\b"
    r"|(?:Rate exceeded|Throttl).*\(Service: "
    r"|\bUnable to execute HTTP request\b"
    r"|\.(?:CommitStateUnknown|OperationTimeout)Exception\b).*$",
    re.MULTILINE,
)
_STOP: Final = re.compile("SparkContext was shut down|stopped SparkContext|cancelled job group")


def retry_outages(
    write_batch: Callable[[], None], attempts: Attempts, is_active: Callable[[], bool]
) -> None:
    """Write a batch; if a service is down, write it again while the query is active.

    Everything that a batch does is idempotent. If the query ended instead, all that Spark has
    compiled would be lost. The time of the attempts counts from the outage: one that comes after a
    longer time of work is another outage, of which there are few.

    Raises:
        PenstockError, Py4JJavaError: as `write_batch` does; that of an outage after the last
            attempt.
    """
    pauses: Iterator[None] | None = None
    outages = 0
    while True:
        started = attempts.clock()
        try:
            return write_batch()
        except (*_OUTAGES, Py4JJavaError) as error:
            outage = _describe_outage(error)
            if outage is None:
                raise
            _LOG.warning("the batch is written again: %s", outage)
            if pauses is None or attempts.clock() - started > attempts.total_seconds:
                outages += 1
                pauses = iter(attempts)
                next(pauses)  # the attempt that failed
            is_over = outages > _MOST_OUTAGES or next(pauses, True)
            if is_over or not is_active():
                raise


def is_stop(error: Exception) -> bool:
    """Return whether a batch ended because somebody stopped its query or its driver."""
    return isinstance(error, Py4JError) and _STOP.search(str(error)) is not None


def _describe_outage(error: Exception) -> str | None:
    """Return what is said of an outage; None for another error of Java."""
    if not isinstance(error, Py4JJavaError):
        return str(error)
    found = _OUTAGE_OF_JAVA.search(str(error))
    return found and found[0].strip(" :")
