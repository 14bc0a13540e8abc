"""A JSON patch leads from one value to the other."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from localcloud.services.glue.registry.json_patch import list_changes

_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


def _apply(value: Any, changes: list[dict[str, Any]]) -> Any:
    """Apply operations as RFC 6902 says, over a root that holds the value."""
    root = {"": copy.deepcopy(value)}
    for change in changes:
        *parents, last = change["path"].split("/") or [""]
        place: Any = root
        for name in parents:
            place = place[_key(place, name)]
        key = _key(place, last)
        if change["op"] == "remove":
            del place[key]
        elif change["op"] == "add" and isinstance(place, list):
            place.insert(key, change["value"])
        else:
            assert change["op"] == "add" or key in range(len(place)) or key in place
            place[key] = change["value"]
    return root[""]


def _key(place: Any, name: str) -> Any:
    return int(name) if isinstance(place, list) else name.replace("~1", "/").replace("~0", "~")


@given(_VALUES, _VALUES)
def test_a_patch_makes_the_new_value_of_the_old(old: Any, new: Any) -> None:
    made = _apply(old, list(list_changes(old, new)))

    assert json.dumps(made, sort_keys=True) == json.dumps(new, sort_keys=True)


def test_equal_values_have_no_patch() -> None:
    value = {"a": [1, {"b/~": None}]}

    assert list(list_changes(value, copy.deepcopy(value))) == []
