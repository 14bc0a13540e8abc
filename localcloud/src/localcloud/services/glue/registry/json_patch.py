"""The difference of two JSON values, as operations of RFC 6902."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

_ABSENT = object()


def list_changes(old: Any, new: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations in the order in which to apply them."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            yield from _change(old.get(key, _ABSENT), new.get(key, _ABSENT), place)
    elif isinstance(old, list) and isinstance(new, list):
        pairs = list(enumerate(zip_longest(old, new, fillvalue=_ABSENT)))
        if len(old) > len(new):
            pairs.reverse()  # removing from the end does not move the other items
        for index, (before, after) in pairs:
            yield from _change(before, after, f"{path}/{index}")
    elif old != new or type(old) is not type(new):
        yield {"op": "replace", "path": path, "value": new}


def _change(old: Any, new: Any, path: str) -> Iterator[dict[str, Any]]:
    if old is _ABSENT:
        yield {"op": "add", "path": path, "value": new}
    elif new is _ABSENT:
        yield {"op": "remove", "path": path}
    else:
        yield from list_changes(old, new, path)
