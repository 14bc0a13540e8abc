"""The three operations on tags that most services have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def answer_tags(
    register: Callable[[str], Callable[[Any], object]],
    find: Callable[..., dict[str, str]],
    tags: str,
    keys: str,
) -> None:
    """Answer them by the tags that a call finds; `tags` and `keys` are names of parameters."""

    @register("ListTagsForResource")
    def list_tags_for_resource(*given: Any) -> dict[str, Any]:
        return {tags: find(*given)}

    @register("TagResource")
    def tag_resource(*given: Any) -> dict[str, Any]:
        find(*given).update(given[0].params[tags])
        return {}

    @register("UntagResource")
    def untag_resource(*given: Any) -> dict[str, Any]:
        found = find(*given)
        for key in given[0].params[keys]:
            found.pop(key, None)
        return {}
