"""The steps of an event that was given up: its dead letters, or the rejected event."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.cli import show_moment
from penstock.errors import PenstockError
from penstock.extensions.trace.model import State, Step
from penstock.operations import list_dead_letters, list_rejected, open_database
from penstock.records import FUNCTION, Source, write_letter_id
from penstock.sinks import JOIN, DeadLetter, RowAddress, Selection, read_rows

_STEP: Final = "dead letter"
_STAGES: Final = (FUNCTION, "spark", JOIN)
_ERRORS: Final = "errors"


def find_letters(
    table: str, profile: str, source: Source, record_id: str, main_table: str
) -> Iterator[Step]:
    """Yield the dead letters of a record in a table, settled ones too.

    Without the id of the record, which has its timestamp, only open ones are found.
    """
    try:
        letters = _read_letters(table, record_id) if record_id else _search_letters(table, source)
        found = [_describe_letter(table, each, profile, main_table) for each in letters]
    except PenstockError as error:
        yield Step(_STEP, State.NOT_SEEN, f"{table}: {error}", {"table": table})
        return
    yield from found
    if not found:
        which = "" if record_id else " that is open"
        yield Step(_STEP, State.NONE, f"{table} has none{which}", {"table": table})


def find_rejected(bucket: str, key: str, profile: str) -> Step:
    """Return the step of a rejected event."""
    if not bucket:
        why = "no bucket is named; PENSTOCK_REJECTED_BUCKET or --rejected-bucket names one"
        return Step("rejected event", State.NOT_SEEN, why)
    try:
        found = [each for each in list_rejected(bucket, key) if each.key == key]
    except PenstockError as error:
        return Step("rejected event", State.NOT_SEEN, str(error))
    if not found:
        seen = f"{bucket} has no {key}: it was sent again or deleted, or never kept"
        return Step("rejected event", State.MISSING, seen)
    event, command = found[0].event, _write_command(profile, "rejected", "replay", key)
    if event is None:
        seen = f"it cannot be read: {found[0].problem}"
        return Step("rejected event", State.FOUND, seen, {"key": key}, given_up=True)
    values = {
        "bucket": bucket,
        "key": key,
        "function": event.function,
        "reason": event.reason,
        "detail": event.detail,
        "rule": event.rule,
        "request": event.request_id,
    }
    seen = f"{event.function} refused it: {event.reason}: {event.detail}"
    return Step("rejected event", State.FOUND, seen, values, event.timestamp, True, command)


def _read_letters(table: str, record_id: str) -> list[tuple[DeadLetter, Mapping[str, Any]]]:
    """Return the dead letters of all owners, each with its row."""
    ids = [write_letter_id(record_id, stage) for stage in _STAGES]
    rows = read_rows(open_database(), [RowAddress.of(table, {"id": each}) for each in ids])
    found = sorted(rows.values(), key=lambda row: str(row["id"]))
    return [(DeadLetter.describe(row), row) for row in found]


def _search_letters(table: str, source: Source) -> list[tuple[DeadLetter, Mapping[str, Any]]]:
    return [(each, {}) for each in list_dead_letters(table, Selection(source=source))]


def _describe_letter(
    table: str, found: tuple[DeadLetter, Mapping[str, Any]], profile: str, main_table: str
) -> Step:
    letter, row = found
    state = "done" if "doneAt" in row else "parked" if "parkedAt" in row else "open"
    values = {
        "table": table,
        "id": letter.id,
        "reason": letter.reason,
        "detail": letter.detail,
        "stage": letter.stage,
        "retries": letter.attempts,
        "state": state,
        "doneAt": show_moment(row["doneAt"]) if state == "done" else None,
        "parkedAt": row.get("parkedAt"),
    }
    seen = f"{letter.stage} gave it up: {letter.reason}: {letter.detail}; {state}"
    if state == "done":
        seen = f"{seen} since {values['doneAt']}"
    elif state == "parked":
        seen = f"{seen} at {values['parkedAt']}"
    command = ""
    if state == "open" and letter.stage != JOIN:  # the retry function owns that one
        job = _find_job(table, main_table)
        command = _write_command(profile, "errors", "replay", f"--id={letter.id}", *job)
    is_open = state == "open"
    return Step(_STEP, State.FOUND, seen, values, letter.first_seen_ms, is_open, command)


def _find_job(table: str, main_table: str) -> tuple[str, ...]:
    """Return the flag of the job whose dead-letter table it is: PREFIX-NAME-errors."""
    prefix = main_table.removesuffix(_ERRORS)
    name = table.removeprefix(prefix).removesuffix(f"-{_ERRORS}")
    return () if table == main_table or not table.startswith(prefix) else (f"--job={name}",)


def _write_command(profile: str, *words: str) -> str:
    return shlex.join(["penstock", *([f"--profile={profile}"] if profile else []), *words])
