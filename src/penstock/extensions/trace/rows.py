"""The row of a record in a table of DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from penstock.errors import PenstockError
from penstock.extensions.trace.model import State, Step
from penstock.extensions.trace.schema import DecodedRecord
from penstock.operations import ReaderTable, open_database
from penstock.records import DELETED, Deletion, FailedRecord, Mode, Row
from penstock.sinks import RowAddress, read_rows

_STEP: Final = "row"


def find_row(table: ReaderTable, decoded: DecodedRecord | None) -> Iterator[Step]:
    """Yield the step of a table: the row of a record, or why there is none."""
    if decoded is None:
        yield _not_seen(table, "its key is in the record, which was not read")
    elif table.columns is not None or table.inside or table.has_changes:
        yield _not_seen(table, "it has chosen columns or rows of changes; see `penstock rows`")
    elif table.shape is None:
        yield _not_seen(table, "the outputs do not tell the key of its rows; apply the root again")
    else:
        try:
            yield _look_up_row(table, decoded)
        except PenstockError as error:
            yield _not_seen(table, str(error))


def _not_seen(table: ReaderTable, why: str) -> Step:
    return Step(_STEP, State.NOT_SEEN, f"{table.name}: {why}", {"table": table.name})


def _look_up_row(table: ReaderTable, decoded: DecodedRecord) -> Step:
    shape = table.shape
    assert shape is not None  # noqa: S101 - asked before
    outcome = decoded.read(shape)
    match outcome:
        case Row() | Deletion():
            key = {name: outcome.values[name] for name in shape.table_key}
        case FailedRecord():
            failure = outcome.failure
            said = f"no row can be made of it: {failure.reason}: {failure.detail}"
            return Step(_STEP, State.NONE, f"{table.name}: {said}", {"table": table.name})
        case _:
            said = f"{table.name}: nothing is written: {outcome}"
            return Step(_STEP, State.NONE, said, {"table": table.name})
    address = RowAddress.of(table.name, key)
    found = read_rows(open_database(), [address]).get(address)
    return _describe_row(table, key, found, str(decoded.record.source))


def _describe_row(
    table: ReaderTable, key: dict[str, str], row: dict[str, Any] | None, source: str
) -> Step:
    values: dict[str, Any] = {"table": table.name, "rowKey": key}
    where = f"{table.name}, {', '.join(f'{name}={text}' for name, text in key.items())}"
    if row is None:
        return Step(_STEP, State.MISSING, f"{where}: there is no such row", values)
    values |= {"source": row.get("_source"), "version": row.get("_schema")}
    if row.get("_source") == source:
        said = "deleted by this record" if DELETED in row else f"version {row.get('_schema')}"
    elif table.shape is not None and table.shape.mode is Mode.UPSERT:
        said = f"a newer record has replaced it: {row.get('_source')}"
    else:
        said = f"it is of another record: {row.get('_source')}"
    return Step(_STEP, State.FOUND, f"{where}: {said}", values)
