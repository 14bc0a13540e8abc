"""The oracle: compares what was sent with what is there, and names each record that is wrong.

It reads frames and Avro by itself and takes nobody's word: not a log, an offset or a count. What it
demands is what docs/guarantees.md promises.
"""

from __future__ import annotations

import io
import json
import re
import uuid
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

import fastavro

from campaign.history import Fate, History, Letter, Made, Record, Row, Sent, find_id
from systems.matching import matches

_HEADER_BYTES: Final = 18  # of Glue's frame: its version, its compression, the id of the schema
_DRIVER_MB: Final = 2_500
_SHOWN: Final = 80  # characters of a value
_KEPT: Final = {Fate.REFUSED, Fate.UNDELIVERED}
_ANSWERED: Final = {Fate.WRITTEN, Fate.REFUSED}
_IN_A_ROW: Final = 30  # events of a sender
_KEY: Final = "deviceId"
_ADDED: Final = "readingId"
_NAMED: Final = re.compile(r"^[\w.]+(Error|Exception)\b.*: \S", re.MULTILINE)


class Kind(StrEnum):
    """The kinds of problems."""

    LOST = "lost"
    TWICE = "twice"
    WRONG = "wrong"
    ORDER = "order"
    LETTER = "dead letter"
    ERROR = "error"
    MEMORY = "memory"
    GROWTH = "growth"


class Problem(NamedTuple):
    """A promise that does not hold, and the record that shows it."""

    kind: Kind
    what: str


def find_problems(history: History) -> list[Problem]:
    """Return all that is wrong."""
    read = {each.place: read_record(each, history.versions) for each in _list_good(history)}
    return [
        *_check_senders(history, read),
        *find_unanswered(history.calm),
        *(
            Problem(Kind.ERROR, f"{who} ended by itself: {why}")
            for who, why in history.dead.items()
        ),
        *_check_order(history.sent),
        *(
            problem
            for program, made in history.made.items()
            for problem in _check_made(program, made, history, read)
        ),
        *_check_job(history),
    ]


def _list_good(history: History) -> Iterator[Record]:
    return (
        each
        for each in history.records
        if each.value is not None and each.value not in history.hostile
    )


def read_record(record: Record, versions: Mapping[str, str]) -> Row | None:
    """Return the values of a record, None if it cannot be read."""
    value = record.value or b""
    try:
        schema = _parse(versions[str(uuid.UUID(bytes=value[2:_HEADER_BYTES]))])
        payload = value[_HEADER_BYTES:]
        body = io.BytesIO(zlib.decompress(payload) if value[1] else payload)
        read: Any = fastavro.schemaless_reader(body, schema, None)
    except (KeyError, ValueError, IndexError, EOFError, zlib.error):
        return None
    return None if body.read(1) else _present(read)


@cache
def _parse(definition: str) -> Any:
    return fastavro.parse_schema(json.loads(definition))


def _present(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


# --- senders and the topic ---------------------------------------------------------------------


def _check_senders(history: History, read: Mapping[str, Row | None]) -> Iterator[Problem]:
    places = defaultdict(list)
    for place, values in read.items():
        if values is None:
            yield Problem(Kind.WRONG, f"{place} cannot be read, and is not hostile")
        else:
            places[find_id(values)].append(place)
    known = {each.id for each in history.sent}
    for id_, found in places.items():
        if id_ not in known:
            yield Problem(Kind.WRONG, f"{found[0]} is of {id_}, which nobody sent")
    for each in history.sent:
        if problem := _check_sent(each, places[each.id], read, history.kept):
            yield problem


def _check_sent(
    sent: Sent, places: Sequence[str], read: Mapping[str, Row | None], kept: Mapping[str, Any]
) -> Problem | None:
    """Return what is wrong with one event, or None."""
    if len(places) > 1:
        return Problem(Kind.TWICE, f"{sent.id} is in the topic as {', '.join(places)}")
    if sent.fate in _KEPT and (told := _describe_kept(sent, kept)):
        return Problem(Kind.LOST, f"{sent.id} was {sent.fate}, and {told}")
    place = places[0] if places else "nowhere"
    if sent.fate is Fate.WRITTEN and place != sent.place:
        return Problem(Kind.LOST, f"{sent.id} was acknowledged as {sent.place}, and is {place}")
    if what := _describe_fate(sent, place if places else ""):
        return Problem(Kind.WRONG, what)
    difference = compare(sent.values, read[place] or {}) if places else ""
    return Problem(Kind.WRONG, f"{place}, {sent.id}: {difference}") if difference else None


def _describe_kept(sent: Sent, kept: Mapping[str, Any]) -> str:
    """Return why an event is not sent again as it was from what the bucket has, or nothing."""
    if sent.kept not in kept:
        return f"is not kept as {sent.kept!r}"
    match kept[sent.kept]:
        case {"base": Mapping() as base, "event": Mapping() as event}:
            again = {**base, **event}
        case _:
            return f"{sent.kept!r} keeps another one: no event"
    for name in sorted(again.keys() | sent.values.keys()):
        one, other = again.get(name), sent.values.get(name)
        if one != other:
            return f"{sent.kept!r} keeps another one: {name} is {_show(one)}, sent {_show(other)}"
    return ""


def _describe_fate(sent: Sent, place: str) -> str:
    """Return why an event must not have the fate that it has, or nothing."""
    if sent.fate is Fate.UNCLEAR:
        return f"{sent.id} has an answer in another form: {sent.reason}"
    if sent.fate is Fate.REFUSED and place:
        return f"{sent.id} was refused, and is {place}"
    if sent.fate is Fate.REFUSED and sent.fits:
        return f"{sent.id} was refused for {sent.reason}, and is good"
    if place and not sent.fits:
        return f"{place} contradicts the events before it"
    return ""


def find_unanswered(calm: Mapping[str, Sequence[Sent]]) -> list[Problem]:
    """Return a problem for each sender whose last events after the faults are not answered."""
    return [
        Problem(Kind.LOST, f"{sender} is answered no more: {told}")
        for sender, sent in calm.items()
        if (told := _describe_last(sent))
    ]


def _describe_last(sent: Sequence[Sent]) -> str:
    for each in sent[-_IN_A_ROW:]:
        if each.fate not in _ANSWERED:
            return f"{each.id} is {each.fate}, {each.reason}"
    is_enough = len(sent) >= _IN_A_ROW
    return "" if is_enough else f"{len(sent)} events after the faults, expected {_IN_A_ROW}"


def _check_order(sent: Iterable[Sent]) -> Iterator[Problem]:
    """Events of one key and one sender are in one partition, in the order of their answers."""
    last: dict[tuple[str, str], Sent] = {}
    for each in (each for each in sent if each.fate is Fate.WRITTEN):
        before = last.get(line := (each.id[0], str(each.values[_KEY])))
        last[line] = each
        if before and not _is_before(before.place, each.place):
            yield Problem(Kind.ORDER, f"{each.id} is {each.place}, after {before.place}")


def _is_before(one: str, other: str) -> bool:
    (topic, offset), (other_topic, other_offset) = (it.rsplit("/", 1) for it in (one, other))
    return topic == other_topic and int(offset) < int(other_offset)


# --- what programs made of the topic -----------------------------------------------------------


def _check_made(
    program: str, made: Made, history: History, read: Mapping[str, Row | None]
) -> Iterator[Problem]:
    good = {place: values for place, values in read.items() if values is not None}
    mended = _read_mended(history) if made.is_replayed else {}
    good |= mended
    # A dead letter that must not be there, or is still open, is a problem of its own.
    given_up = {each.place for each in made.letters if not each.is_done}
    for table, rows in made.appended.items():
        yield from _check_appended(f"{program}, {table}", rows, good, given_up)
    wanted = good.keys() - given_up
    kept = [each for each in history.records if each.place in wanted]
    for table, rows in made.newest.items():
        yield from _check_newest(f"{program}, {table}", rows, good, kept)
    yield from _check_letters(program, made, history, mended)


def _read_mended(history: History) -> dict[str, Row]:
    """Return the values of the records of which a replay must have made rows."""
    return {
        each.place: history.mended[each.value]
        for each in history.records
        if each.value is not None and each.value in history.mended
    }


def _check_appended(
    where: str,
    rows: Sequence[tuple[str, Row]],
    good: Mapping[str, Row],
    given_up: Collection[str],
) -> Iterator[Problem]:
    times, found = Counter(place for place, _ in rows), dict(rows)
    for place, values in good.items():
        if place not in found:
            if place not in given_up:
                yield Problem(Kind.LOST, f"{where}: no row of {place}, {find_id(values)}")
        elif times[place] > 1:
            yield Problem(Kind.TWICE, f"{where}: {times[place]} rows of {place}")
        elif difference := compare(values, found[place]):
            yield Problem(Kind.WRONG, f"{where}: {place}: {difference}")
    for place in found.keys() - good.keys():
        yield Problem(Kind.WRONG, f"{where}: a row of {place}, which is no good record")


def _check_newest(
    where: str,
    rows: Sequence[tuple[str, Row]],
    good: Mapping[str, Row],
    records: Iterable[Record],
) -> Iterator[Problem]:
    newest: dict[str, Record] = {}
    for record in records:
        key = str(good[record.place][_KEY])
        newest[key] = max(newest.get(key, record), record, key=lambda it: (it.time_ms, it.offset))
    found = {str(row[_KEY]): (place, row) for place, row in rows}
    for key, record in newest.items():
        place, row = found.get(key, ("", {}))
        if not place:
            yield Problem(Kind.LOST, f"{where}: no row of {key}, the newest is {record.place}")
        elif place != record.place:
            yield Problem(Kind.ORDER, f"{where}: {key} is {place}, the newest is {record.place}")
        elif difference := compare(good[place], row):
            yield Problem(Kind.WRONG, f"{where}: {place}: {difference}")
    for key in found.keys() - newest.keys():
        yield Problem(Kind.WRONG, f"{where}: a row of {key}, which no good record has")


def _check_letters(
    program: str, made: Made, history: History, mended: Collection[str]
) -> Iterator[Problem]:
    wanted = {
        each.place: Letter(each.place, history.hostile[each.value], each.value)
        for each in history.records
        if each.value is not None and each.value in history.hostile
    }
    found = {each.place: each for each in made.letters}
    done = {each.place for each in made.letters if each.is_done}
    for place, letter in wanted.items():
        if place not in found:
            said = f"no dead letter of {place}, expected {letter.reason}"
            yield Problem(Kind.LOST, f"{program}: {said}")
        elif problem := _check_letter(letter, found[place]) or _check_mark(place, mended, done):
            yield Problem(problem.kind, f"{program}: {problem.what}")
    for place in found.keys() - wanted.keys():
        yield Problem(
            Kind.LETTER, f"{program}: {place} is good, given up for {found[place].reason}"
        )
    times = Counter(each.place for each in made.letters)
    for place in (place for place, count in times.items() if count > 1):
        yield Problem(Kind.TWICE, f"{program}: {times[place]} dead letters of {place}")


def _check_letter(wanted: Letter, found: Letter) -> Problem | None:
    """Return what differs between the dead letter of a hostile record and the one it must have."""
    place = wanted.place
    if found.reason != wanted.reason:
        said = f"the dead letter of {place} says {found.reason}, expected {wanted.reason}"
        return Problem(Kind.LETTER, said)
    if found.value != wanted.value:
        return Problem(Kind.WRONG, f"the dead letter of {place} has other bytes")
    return None


def _check_mark(place: str, mended: Collection[str], done: Collection[str]) -> Problem | None:
    """Return what is wrong if a letter is open though its record was mended, or the reverse."""
    if place in mended and place not in done:
        return Problem(Kind.LOST, f"the dead letter of {place} is still open")
    if place in done and place not in mended:
        return Problem(Kind.LETTER, f"{place} cannot be read, and its letter is done")
    return None


def compare(values: Row, row: Row) -> str:
    """Return the first difference between an event and its record or row."""
    own = {name: value for name, value in _present(row).items() if name[0] != "_"}
    for name in sorted((own.keys() | values.keys()) - {_ADDED}):
        if name not in values or not matches(values[name], own.get(name)):
            return f"{name} is {_show(own.get(name))}, sent {_show(values.get(name))}"
    return ""


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


# --- the job -----------------------------------------------------------------------------------


def _check_job(history: History) -> Iterator[Problem]:
    for end in history.ends:
        if end.code == 0 or not _NAMED.search(end.said):
            yield Problem(Kind.ERROR, f"the job ended with {end.code}, and says: {end.said[-500:]}")
    if history.peak_mb > _DRIVER_MB:
        yield Problem(Kind.MEMORY, f"a driver had {history.peak_mb} MB, expected {_DRIVER_MB}")
