"""Versions that are merged at once are usable as if each had come after the other."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

from penstock.errors import SchemaConflictError
from penstock.framing import SchemaKey
from penstock.registry import Agreement, SchemaVersion, agreement
from penstock.registry.agreement import History
from penstock.registry.interface import VersionStatus
from penstock.schemas import Schema, canonical_form, extend_at_once, extend_merge

_HISTORIES = 200


def _record(name: str, **fields: Any) -> dict[str, Any]:
    found = [{"name": field, "type": type_} for field, type_ in fields.items()]
    return {"type": "record", "name": name, "fields": found}


_DATE = {"type": "int", "logicalType": "date"}
_STATE = {"type": "enum", "name": "E", "symbols": ["X"]}
_A, _B = _record("A", p="long"), _record("B", p="long")
_ROW = ["null", _record("T.Value", p="long")]
# Each list has versions that meet: some contradict each other, and a later one may hold both.
_PLAIN = ["int", "long", "double", "string", ["null", "long"], ["long", "string"], _DATE, "null"]
_NAMED = [_A, _B, {**_B, "aliases": ["A"]}, _record("n.A"), ["null", _A], ["null", _A, _B], "long"]
_OTHER = [_STATE, {**_STATE, "symbols": ["Y", "X"]}, ["null", _A, _STATE], _A, ["null", _STATE]]
_KINDS: list[list[Schema]] = [
    [_record("event", a=type_) for type_ in _PLAIN],
    [_record("event", a=type_, b="long") for type_ in _PLAIN[:5]] + [_record("event", b="int")],
    [_record("event", a=type_) for type_ in _NAMED],
    [_record("event", a=type_) for type_ in _OTHER],
    [_record("event", **{name: each}) for name in "ab" for each in (_A, _record("A", p="string"))],
    [_record("event", a={"type": "array", "items": each}) for each in _PLAIN[:5]],
    [_record("T.Envelope", after=_ROW), _record("T.Envelope", op="int"), _record("T.Value")],
    [_record("event"), _record("other"), {**_record("other"), "aliases": ["event"]}],
]


def _version(number: int, schema: Schema) -> SchemaVersion:
    key = SchemaKey.parse(f"d3e21a3b-f828-4f0c-9f3e-{number:012x}")
    return SchemaVersion(key, "readings", number, VersionStatus.AVAILABLE, schema, None)


def _takes(agreed: Agreement, schema: Schema) -> bool:
    try:
        agreed.merge_with(schema)
    except SchemaConflictError:
        return False
    return True


def test_versions_are_usable_as_if_they_were_merged_one_by_one() -> None:
    chance, at_once = random.Random(7), Counter[bool]()

    def count(*asked: Any) -> Schema | None:
        merged = extend_at_once(*asked)
        at_once[merged is not None] += 1
        return merged

    for _ in range(_HISTORIES):
        kind = chance.choice(_KINDS)
        versions = {at: chance.choice(kind) for at in range(1, chance.randint(3, 6))}
        group = chance.randint(2, 5)
        with (
            patch.object(agreement, "_MERGED_AT_ONCE", group),
            patch.object(agreement, "extend_at_once", count),
        ):
            found = Agreement().with_versions(versions)

        wanted = Agreement()
        for version in versions.items():
            wanted = wanted.with_version(*version)
        assert (found.numbers, found.usable) == (wanted.numbers, wanted.usable)
        assert [*map(canonical_form, found.merged)] == [*map(canonical_form, wanted.merged)]
        assert [_takes(found, new) for new in kind] == [_takes(wanted, new) for new in kind]

    assert min(at_once.values()) > _HISTORIES / 5


def test_two_that_a_later_union_holds_are_not_merged_with_it() -> None:
    number, text = _record("e", a="long"), _record("e", a="string")
    both = _record("e", a=["long", "string"])
    versions = [_version(at, schema) for at, schema in enumerate((number, text, both))]

    assert extend_at_once((), [number, text, both]) is None
    assert extend_at_once([both], [number, text]) is None
    assert History(versions.__getitem__).refresh(range(3)) == (versions[0], versions[2])


def test_most_versions_take_no_merge_of_each() -> None:
    fields = [f"f{at}" for at in range(100)]
    versions = [
        _version(at, _record("e", **dict.fromkeys(fields[: at + 1], "long"))) for at in range(100)
    ]
    versions[50] = _version(50, _record("e", f0="string"))

    with patch.object(agreement, "extend_merge", wraps=extend_merge) as merge:
        usable = History(versions.__getitem__).refresh(range(100))

    assert usable == (*versions[:50], *versions[51:])
    assert merge.call_count == 20
