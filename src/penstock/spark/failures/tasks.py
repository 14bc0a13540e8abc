"""Python tasks on the rows of a partition, and the errors that they raise on the driver."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import RDD

from penstock.errors import Reason, SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError

STAGE: Final = "spark"  # the stage that a dead letter names
_ROWS_AT_ONCE: Final = 100
_KINDS: Final = {
    kind.__name__: kind for kind in (SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError)
}
_LINE: Final = re.compile(rf"^penstock\.errors\.({'|'.join(_KINDS)}): (.*)$", re.MULTILINE)


def count_by_reason(
    rows: RDD[Any], task: Callable[[Iterable[Any]], Iterator[Counter[Reason]]]
) -> Counter[Reason]:
    """Run a task on each partition, and return the number of records given up, by reason.

    Raises:
        SinkError: the error that ended a task.
    """
    try:
        counts = rows.mapPartitions(task).collect()
    except Py4JJavaError as error:
        raise_as_told(error)
        raise
    total: Counter[Reason] = Counter()
    for count in counts:
        total.update(count)
    return total


def in_chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield rows in lists of four DynamoDB requests; rejected ones are stored before the next."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_AT_ONCE)):
        yield chunk


def to_bytes(value: bytearray | None) -> bytes | None:
    """Return a record's key or value from a Spark row."""
    return None if value is None else bytes(value)


def to_headers(found: Iterable[Any] | None) -> tuple[tuple[str, bytes | None], ...]:
    """Return a record's headers from a Spark row."""
    return tuple((header["key"], to_bytes(header["value"])) for header in found or ())


def raise_as_told(error: Exception) -> None:
    """Raise the sink error that ended a task, if the text of Spark's error names one."""
    found = _LINE.search(str(error))
    if found is not None:
        raise _KINDS[found[1]](found[2]) from error
