"""Dead letters of a consumer: list them, and read one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.errors import OperationError
from penstock.operations.database import open_database
from penstock.sinks import DeadLetter, ErrorTable, ObjectStore, Selection


def list_dead_letters(table: str, selection: Selection) -> Iterator[DeadLetter]:
    """Yield the open rows of a dead-letter table that match, without the bytes of their records.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: the table cannot be read.
    """
    return _open_table(table, "").describe(selection)


def read_dead_letter(
    table: str, bucket: str, row_id: str
) -> tuple[DeadLetter, Sequence[DeadLetter]]:
    """Return one row, with the bytes that the bucket holds, and those of the record's other owners.

    Raises:
        OperationError: the table has no such row.
        SinkAccessDeniedError, SinkUnavailableError: the table or the bucket cannot be read.
    """
    rows = _open_table(table, bucket)
    for row in rows.read([row_id]):
        return row, rows.describe_others(row)
    raise OperationError(f"found no row {row_id} in {table}, expected an id that `list` shows")


def _open_table(table: str, bucket: str) -> ErrorTable:
    return ErrorTable(open_database(), table, ObjectStore(bucket))
