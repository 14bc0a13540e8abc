"""JSON events for hypothesis: few names, so that fields meet, and the edges of every number."""

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
