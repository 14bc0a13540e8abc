"""JSON events and schemas for hypothesis: few names, so that they meet, and edges of numbers."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "temp-c", "1st", "é", "_x0041_", "deviceID"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTEGERS = st.one_of(
    st.integers(-1_000, 1_000),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3).map(lambda near: 2**53 + near),
    st.integers(-3, 3).map(lambda near: near - 2**53),
)
NUMBERS = st.one_of(INTEGERS, st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)


def _inside(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.dictionaries(NAMES, values, max_size=3)
    return st.one_of(st.lists(values, max_size=3), st.lists(NUMBERS, max_size=3), members)


VALUES = st.recursive(SCALARS, _inside, max_leaves=8)
EVENTS = st.dictionaries(NAMES, VALUES, max_size=4)


def without_nothing(value: Any) -> Any:
    """Drop what an event says nothing with: members that are null or hold only such."""
    if isinstance(value, dict):
        kept = {key: without_nothing(member) for key, member in value.items()}
        return {key: member for key, member in kept.items() if not _is_nothing(member)}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def _is_nothing(value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    return value is None or (isinstance(value, dict | list) and all(map(_is_nothing, inside)))


_TYPE_NAMES = st.sampled_from(["A", "B", "C", "a.A"])
_JSON_NAMES = st.one_of(NAMES, st.text(st.sampled_from("é\0\ud800\ufffe\U0001f600"), max_size=3))
_LOGICAL = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"logicalType": st.just("decimal"), "precision": st.sampled_from([-1, 0, 1, 4, 38, 39])},
        optional={"scale": st.integers(-1, 5)},
    ),
    st.fixed_dictionaries({"logicalType": st.sampled_from(["timestamp-millis", "\ud800", 7])}),
)


def _type(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    plain = st.fixed_dictionaries({"type": st.just(kind), **parts})
    return st.builds(dict.__or__, plain, _LOGICAL)


def _named(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return _type(kind, name=_TYPE_NAMES, aliases=st.lists(_TYPE_NAMES, max_size=2), **parts)


def _fields(types: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Make one field or two, of which the first has a name of its own in JSON."""
    first = st.fixed_dictionaries({"name": st.just("x"), "jsonName": _JSON_NAMES, "type": types})
    second = st.fixed_dictionaries({"name": st.just("y"), "type": types})
    return st.one_of(st.tuples(second), st.tuples(first), st.tuples(first, second)).map(list)


_LEAVES = st.one_of(_type("bytes"), _type("long"))
_BRANCHES = st.one_of(
    _LEAVES,
    _named("fixed", size=st.sampled_from([0, 1, 17, 1_785, 1_786, 2**20])),
    _named("enum", symbols=st.just(["X"])),
    _named("record", fields=_fields(_LEAVES)),
)
_UNIONS = st.lists(_BRANCHES, min_size=1, max_size=2)


@st.composite
def versions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Make two records, some no valid schema; types of the first have other names in the second."""
    first = draw(_fields(_UNIONS))
    second = [
        {**field, "type": [*map(draw, map(_rename, field["type"])), *draw(_UNIONS)]}
        for field in first
    ]
    return [
        {
            "type": "record",
            "name": "event",
            "fields": [{**each, "type": _unite(*each["type"])} for each in fields],
        }
        for fields in (first, second)
    ]


def _rename(type_: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    if "name" not in type_:
        return st.just(type_)
    return _TYPE_NAMES.map(lambda name: {**type_, "name": name, "aliases": [type_["name"]]})


def _unite(*types: dict[str, Any]) -> list[Any]:
    """Make a union of text and the types, the first of those with one name."""
    named = {each.get("name", each["type"]): each for each in reversed(types)}
    return ["string", *named.values()]
