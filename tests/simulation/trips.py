"""The checks of trips at the end of a run, which import nothing of Penstock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_FIRST_SECONDS = 60  # until a join is tried again, which doubles
_KEPT_SECONDS = 365 * 86_400  # after it is settled
_MOST_ATTEMPTS = 3
_ROUNDED = 2


def check_trips(
    topics: dict[str, list[Any]],
    final: dict[str, dict[str, Any]],
    letters: dict[str, Any],
    due_s: float,
) -> Iterator[str]:
    """Yield a sentence for each trip that is joined wrongly, or neither joined nor told to wait.

    A task that died may leave the letter of a trip that it joins when it comes again. The retries
    settle it when it is due: none that was due at `due_s` is left.
    """
    changes = {
        event if isinstance(event, str) else event["customer"]: event
        for event in topics["customers"]
    }
    customers = {name for name, event in changes.items() if not isinstance(event, str)}
    lines = {event["line"] for event in topics["lines"]}
    newest = {
        event if isinstance(event, str) else event["trip"]: (event, offset)
        for offset, event in enumerate(topics["trips"])
    }
    for key, (event, offset) in newest.items():
        place, row = f"trips/0/{offset}", final.get(key)
        letter = letters.get(f"{place}/{1_000 + offset}/join", {})
        if row is not None and row["_source"] == place:
            if row.get("_deleted", False) != isinstance(event, str):
                yield f"{place} is {event}, and its row {row}"
            elif not row.get("_deleted") and row["customer"] != {"customer": event["buyer"]}:
                yield f"{place} is joined with {row['customer']}"
            elif letter.get("nextAttemptAt", due_s) < due_s:
                yield f"{place} is joined, and its letter is open"
        elif not letter.keys() & {"parkedAt", "nextAttemptAt"}:
            yield f"{place} is {event}: not joined, and no letter says so"
        elif "parkedAt" not in letter and _can_join(event, customers, lines):
            yield f"{place} has all that it needs, and is not joined: {letter}"


def _can_join(event: Any, customers: set[str], lines: set[int]) -> bool:
    return isinstance(event, str) or (event["buyer"] in customers and event["line"] in lines)


def check_letters(trips: list[Any], letters: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each dead letter that names rows of another record, or came too soon.

    A join is tried again after a minute, then after two and four, and then parked: so a letter says
    when its last failure was.
    """
    for letter in letters:
        event = trips[int(letter["id"].split("/")[2])]
        needs = set()
        if not isinstance(event, str):
            needs = {f"customers/{event['buyer']}", f"lines/{event['order']}/{event['line']}"}
        if others := set(letter.get("waitingFor", ())) - needs:
            yield f"{letter['id']} is the letter of {event}, and waits for {others}"
        attempts, first_s = letter["attempts"], letter["firstSeen"] // 1_000
        if attempts > _MOST_ATTEMPTS:
            yield f"{letter['id']} was tried {attempts} times"
        if "nextAttemptAt" in letter:
            failed_s = letter["nextAttemptAt"] - _FIRST_SECONDS * 2**attempts
        elif "parkedAt" in letter:
            failed_s = letter["expiresAt"] - _KEPT_SECONDS
        else:
            continue
        if failed_s < first_s + _FIRST_SECONDS * (2**attempts - 1) - _ROUNDED:
            yield f"{letter['id']} failed {attempts} times in {failed_s - first_s} s"
