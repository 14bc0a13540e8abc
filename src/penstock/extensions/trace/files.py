"""The step of the lake: the file with the row of a record, and the commit that added it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.extensions.trace.model import State, Step
from penstock.extensions.trace.schema import DecodedRecord, find_event_time
from penstock.operations import ReaderTable
from penstock.records import Source

if TYPE_CHECKING:
    from penstock.extensions.trace.lake import LakeFile

_STEP: Final = "lake file"
_LEAST_MS: Final = 10**8  # less is a date in days, or a time of a clock that was never set


def find_file(
    table: ReaderTable, source: Source, written_ms: int | None, decoded: DecodedRecord | None
) -> Iterator[Step]:
    """Yield the step of a table of the lake; several, if several files have the record.

    `written_ms` is Kafka's timestamp of the record, if that is known.
    """
    values = {"table": table.name}
    if table.kind == "parquet":
        why = f'{table.name} has files without snapshots; ask Athena for their "$path"'
        yield Step(_STEP, State.NOT_SEEN, why, values)
        return
    try:
        # Others do without pyiceberg, which takes a second to import and may not be installed.
        from penstock.extensions.trace.lake import find_files  # noqa: PLC0415

        found = find_files(table.name, source, written_ms, _find_event_time(table, decoded))
    except ModuleNotFoundError as error:
        why = f"found no package {error.name}: pip install '.[cli,lake]' in a clone brings it"
        yield Step(_STEP, State.NOT_SEEN, why, values)
        return
    except PenstockError as error:
        yield Step(_STEP, State.NOT_SEEN, str(error), values)
        return
    yield from (_describe_file(table, each) for each in found)
    if not found:
        # A record that has no event, such as a tombstone, has no row in the lake.
        is_due = decoded is None or decoded.event
        state = State.MISSING if is_due else State.NONE
        yield Step(_STEP, state, f"{table.name} has no row of it", values)


def _describe_file(table: ReaderTable, file: LakeFile) -> Step:
    commit = f"snapshot {file.snapshot}"
    if file.operation:
        commit = f"{commit} ({file.operation})"
    if file.committed_ms is None:
        commit = f"{commit}, which has expired"
    rows = "" if file.rows == 1 else f", {file.rows} rows"
    values = {
        "table": table.name,
        "file": file.location,
        "rows": file.rows,
        "snapshot": str(file.snapshot),  # more digits than JavaScript's numbers have
        "operation": file.operation or None,
    }
    seen = f"{table.name}, {commit}{rows}: {file.location}"
    return Step(_STEP, State.FOUND, seen, values, file.committed_ms)


def _find_event_time(table: ReaderTable, decoded: DecodedRecord | None) -> int | None:
    """Return the event time of the row, by which the table is partitioned, if it is known."""
    if decoded is None or table.shape is None:
        return None
    if table.shape.event_time is None:
        return decoded.record.timestamp_ms
    found = find_event_time(decoded.event, table.shape)
    return None if found is None or abs(found) < _LEAST_MS else found
