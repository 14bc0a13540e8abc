"""The oracle: compares what was sent with what tables and dead letters hold, and gives a verdict.

It takes no system's word: not its log, its offsets or its counts. Whether a process ended is known
from the process alone, and whether a stream still reads from the last records of its topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proof.change import ID, Change, Kind, Row
from proof.sent import Sent
from systems.matching import matches


class Verdict(StrEnum):
    """The outcomes of a change, from the best to the worst."""

    KEPT = "kept"
    DEAD_LETTER = "dead letter"
    RESTART = "restart needed"
    STOPPED = "stopped"
    LOST = "lost"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Found:
    """The rows and dead letters that independent readers found for a change."""

    rows: Sequence[Row]
    letters: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and a short reason."""

    verdict: Verdict
    reason: str


def is_complete(sent: Sequence[Sent], found: Found) -> bool:
    """Return whether every record so far is a row or a dead letter."""
    return not _missing(sent, found)


def judge(
    change: Change, sent: Sequence[Sent], found: Found, *, restarted: bool, ended: bool
) -> Judgement:
    """Return the verdict on a change.

    Args:
        change: the change.
        sent: its records, in the order of the topic.
        found: what tables and dead letters hold.
        restarted: the stream ended by itself once, and was started again.
        ended: the stream has ended by itself, after that start too if there was one.
    """
    expected = change.expected()
    if wrong := find_wrong(expected, _defaults(change), found.rows):
        return Judgement(Verdict.WRONG, wrong)
    missing = _missing(sent, found)
    read_on = sent[-1] not in missing
    words = _count(missing, sent)
    if missing and (ended or not read_on):
        return Judgement(Verdict.STOPPED, words)
    if missing:
        return Judgement(Verdict.LOST, words)
    letters = _letters(sent, found)
    if restarted:
        return Judgement(Verdict.RESTART, _count(letters, sent, "in dead letters"))
    if good := [each for each in letters if each.kind is Kind.GOOD]:
        return Judgement(Verdict.DEAD_LETTER, _count(good, sent, "in dead letters"))
    return Judgement(Verdict.KEPT, _count(letters, sent, "in dead letters, the bad ones"))


def find_wrong(
    expected: Mapping[str, Row], defaults: Mapping[str, Collection[Any]], rows: Sequence[Row]
) -> str:
    """Return what is wrong with the first row that is wrong, or nothing."""
    ids = Counter(str(row[ID]) for row in rows if row.get(ID) is not None)
    if strange := sorted(set(ids) - set(expected)):
        return f"{len(strange)} rows that no good record is, such as `{ID}` {strange[0]}"
    if twice := [each for each, count in ids.items() if count > 1]:
        return f"{len(twice)} records are in several rows"
    if len(rows) > sum(ids.values()):
        return f"{len(rows) - sum(ids.values())} rows without `{ID}`"
    faults = [
        fault
        for row in sorted(rows, key=lambda row: str(row[ID]))
        if (fault := _compare(expected[str(row[ID])], defaults, row))
    ]
    return f"{faults[0]} ({len(faults)} of {len(rows)} rows)" if faults else ""


def _missing(sent: Sequence[Sent], found: Found) -> list[Sent]:
    there = {str(row[ID]) for row in found.rows if row.get(ID) is not None}
    letters = set(found.letters)
    return [
        each
        for each in sent
        if each.kind is not Kind.EMPTY
        and each.value not in letters
        and (each.kind is Kind.BAD or each.id not in there)
    ]


def _letters(sent: Sequence[Sent], found: Found) -> list[Sent]:
    letters = set(found.letters)
    there = {str(row[ID]) for row in found.rows}
    return [each for each in sent if each.value in letters and each.id not in there]


def _count(some: Sequence[Sent], sent: Sequence[Sent], where: str = "nowhere") -> str:
    return f"{len(some)} of {len(sent)} records {where}" if some else ""


def _defaults(change: Change) -> dict[str, list[Any]]:
    """Return the defaults that a field has in some version."""
    defaults: dict[str, list[Any]] = {}
    for schema in change.versions:
        for each in schema["fields"]:
            if "default" in each:
                defaults.setdefault(each["name"], []).append(each["default"])
    return defaults


def _compare(sent: Row, defaults: Mapping[str, Collection[Any]], row: Row) -> str:
    """Return the first difference between a record and its row."""
    for name, value in sent.items():
        if not matches(value, row.get(name)):
            return f"`{name}` is {_show(row.get(name))}, sent {_show(value)}"
    for name in defaults:
        value = row.get(name)
        if name not in sent and not any(matches(each, value) for each in (None, *defaults[name])):
            return f"`{name}` is {_show(value)}, not sent"
    return ""


def _show(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
