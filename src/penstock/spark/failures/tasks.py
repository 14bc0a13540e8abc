"""What executors do with the rows of a partition in Python, and how the driver hears of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import RDD

from penstock.errors import Reason, SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError

STAGE: Final = "spark"  # where an error record says that it was made
_ROWS_AT_ONCE: Final = 100
_KINDS: Final = {
    kind.__name__: kind for kind in (SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError)
}
_LINE: Final = re.compile(rf"^penstock\.errors\.({'|'.join(_KINDS)}): (.*)$", re.MULTILINE)


def count_by_reason(
    rows: RDD[Any], task: Callable[[Iterable[Any]], Iterator[Counter[Reason]]]
) -> Counter[Reason]:
    """Run a task on each partition, and sum up what it gave up.

    Raises:
        SinkError: the one that ended a task.
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
    """Give rows in four of DynamoDB's requests: what is refused is kept before the next."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_AT_ONCE)):
        yield chunk


def to_bytes(value: bytearray | None) -> bytes | None:
    """Give what Spark's rows hold of a record's key or value."""
    return None if value is None else bytes(value)


def to_headers(found: Iterable[Any] | None) -> tuple[tuple[str, bytes | None], ...]:
    """Give what Spark's rows hold of a record's headers."""
    return tuple((header["key"], to_bytes(header["value"])) for header in found or ())


def raise_as_told(error: Exception) -> None:
    """Raise the error that a task ended with, out of the text of Spark's, where it is a sink's."""
    found = _LINE.search(str(error))
    if found is not None:
        raise _KINDS[found[1]](found[2]) from error
