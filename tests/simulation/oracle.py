"""The checks at the end of a run, which import nothing of Penstock."""

from __future__ import annotations

import io
import json
import uuid
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

import fastavro

_HEADER: Final = 18  # bytes of a frame before its payload
_ADDED: Final = {"deviceId", "timestamp", "readingId"}
_NUMBERS: Final = {"int", "long", "float", "double"}


class Version(Protocol):
    """A version that the registry holds."""

    id: str
    number: int
    definition: str


@dataclass(frozen=True, slots=True)
class Written:
    """A record of the topic; `is_hostile` says that it can be no row.

    A late one is hostile until its version becomes known, and a replay writes it.
    """

    place: str
    device: str
    time_ms: int
    offset: int
    value: bytes
    is_hostile: bool
    is_late: bool = False

    @property
    def letter(self) -> str:
        """The id of its dead letter."""
        return f"{self.place}/{self.time_ms}"


@dataclass(frozen=True, slots=True)
class Sent:
    """An event, and the place of its record or the reason of its refusal."""

    event: Mapping[str, Any]
    place: str = ""
    refused_for: str = ""


def find_kinds(versions: Iterable[Version]) -> dict[str, str]:
    """Return the kind of each field: that of the first version with it.

    A version with another kind of any field is no version: it has no effect.
    """
    agreed: dict[str, str] = {}
    for version in sorted(versions, key=lambda each: each.number):
        found = dict(_list_kinds(json.loads(version.definition)))
        if all(agreed.get(name, kind) == kind for name, kind in found.items()):
            agreed |= found
    return agreed


def _list_kinds(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for field in schema["fields"]:
        yield from _list_kind(field["type"], path + field["name"])


def _list_kind(schema: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(schema, list):
        (schema,) = [each for each in schema if each != "null"] or ["null"]
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "null":
        return
    yield path, "number" if kind in _NUMBERS else kind
    if kind == "record":
        yield from _list_kinds(schema, path + ".")
    elif kind == "array":
        yield from _list_kind(schema["items"], path + "[]")


def list_event_kinds(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the kind of each value of an event, by its path."""
    match value:
        case None:
            return
        case bool():
            yield path, "boolean"
        case int() | float():
            yield path, "number"
        case str():
            yield path, "string"
        case list():
            yield path, "array"
            for each in value:
                yield from list_event_kinds(each, path + "[]")
        case dict():
            if path:
                yield path, "record"
            for name, each in value.items():
                yield from list_event_kinds(each, f"{path}.{name}" if path else name)


def check_sent(
    sent: Iterable[Sent], written: Mapping[str, Written], versions: list[Version], budget: int
) -> Iterator[str]:
    """Yield a sentence for each event that is not where its sender was told, or refused wrongly."""
    kinds = find_kinds(versions)
    for each in sent:
        if each.place:
            if each.place not in written:
                yield f"{each.event} was acknowledged as {each.place}, which is not there"
            elif not _is_like(each.event, _read(written[each.place].value, versions)):
                yield f"{each.place} is not {each.event}"
            continue
        found = dict(list_event_kinds(each.event))
        contradicts = any(kinds.get(path, kind) != kind for path, kind in found.items())
        if not contradicts and len(versions) < budget:
            yield f"{each.event} was refused for {each.refused_for}, and contradicts nothing"


def check_tables(
    written: Collection[Written],
    versions: list[Version],
    rows: Mapping[str, Mapping[str, Any]],
    newest: Mapping[str, Mapping[str, Any]],
    letters: Mapping[str, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield a sentence for each record that is lost, twice, wrong, or older than its row.

    `rows` are those of the table that is appended to, by their records, `newest` those of the other
    one by device.
    """
    left_rows, left_letters = dict(rows), dict(letters)
    last: dict[str, Written] = {}
    stamps: set[tuple[str, Any]] = set()
    for record in written:
        row, letter = left_rows.pop(record.place, None), left_letters.pop(record.letter, None)
        if problem := _find_problem(record, row, letter, versions):
            yield f"{record.place} {problem}"
        elif row is not None and not record.is_hostile:
            stamp = record.device, _read(record.value, versions)["timestamp"]
            if stamp in stamps:
                yield f"{record.place} has the time of another record of its device"
            stamps.add(stamp)
        if not record.is_hostile:
            before = last.setdefault(record.device, record)
            last[record.device] = max(before, record, key=lambda it: (it.time_ms, it.offset))
    yield from (f"no record {place} was written, and there is its row" for place in left_rows)
    yield from (f"no record {name} was written, and there is its letter" for name in left_letters)
    late = {record.device for record in written if record.is_late}  # a replay may be older
    for device in (last.keys() | newest.keys()) - late:
        found = newest.get(device, {}).get("_source")
        wanted = last[device].place if device in last else None
        if found != wanted:
            yield f"the newest row of {device} is of {found}, expected {wanted}"


def _find_problem(
    record: Written,
    row: Mapping[str, Any] | None,
    letter: Mapping[str, Any] | None,
    versions: list[Version],
) -> str:
    """Return what is wrong with the row and the letter of a record; empty if nothing is."""
    is_settled = letter is not None and "doneAt" in letter
    if row and letter and not (record.is_late and is_settled):
        return "is a row and a dead letter"
    if record.is_late and is_settled and row is None:
        return f"is lost, and its letter says {letter}"
    if row is None:
        if record.is_hostile:
            return "" if letter else "is hostile, and no dead letter"
        return f"is given up for {letter['reason']}: {letter['detail']}" if letter else "is lost"
    if record.is_hostile and not record.is_late:
        return f"is hostile, and the row {row}"
    return "" if _is_like(_read(record.value, versions), row) else f"is the row {row}"


def check_log(objects: Iterable[bytes], letters: Collection[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each dead letter that the log lacks, and each object that it has twice.

    `letters` are the tables and ids of dead letters.
    """
    seen: set[tuple[tuple[str, str], ...]] = set()
    for each in objects:
        lines = map(json.loads, each.splitlines())
        found = tuple((line["error_table"], line["id"]) for line in lines)
        if found in seen:
            yield f"the log has two objects of {found}"
        seen.add(found)
    logged = {letter for found in seen for letter in found}
    yield from (f"the log lacks {letter}" for letter in letters if letter not in logged)


def inflate(value: bytes) -> bytes:
    """Return the payload of a record."""
    return zlib.decompress(value[_HEADER:]) if value[1] else value[_HEADER:]


def _read(value: bytes, versions: Iterable[Version]) -> dict[str, Any]:
    key = str(uuid.UUID(bytes=value[2:_HEADER]))
    definition = next(each.definition for each in versions if each.id == key)
    payload = io.BytesIO(inflate(value))
    read: Any = fastavro.schemaless_reader(payload, _parse(definition), None)
    return dict(read)


@lru_cache(1_000)
def _parse(definition: str) -> Any:
    return fastavro.parse_schema(json.loads(definition))


def _is_like(event: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return whether the values are those of an event, apart from what is added to it.

    An empty list is left out until a list that is not empty has said what it holds.
    """
    if "_source" in found:  # a row, where fields with the names of its own are in a map
        own_fields = {name: value for name, value in found.items() if name[0] != "_"}
        found = own_fields | found.get("_event", {})
    own, wanted = _names(found), _names(event)
    needed = {name for name in wanted if event[name] != []}
    return needed <= own <= wanted and all(_same(event[name], found[name]) for name in own)


def _names(values: Mapping[str, Any]) -> set[str]:
    return {name for name, value in values.items() if value is not None} - _ADDED


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict):
        names = {name for name, value in wanted.items() if value is not None}
        return all(name in found and _same(wanted[name], found[name]) for name in names)
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(_same, wanted, found))
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return float(wanted) == float(found)
    return bool(wanted == found)


def group_by_source(rows: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return rows by their records.

    Raises:
        AssertionError: two rows are of one record.
    """
    found = defaultdict(list)
    for row in rows:
        found[row["_source"]].append(row)
    assert all(len(each) == 1 for each in found.values()), found
    return {source: each for source, (each,) in found.items()}
