"""Values of JSON as text of a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from markupsafe import Markup

_MOST_CHARACTERS: Final = 2_000


def show_text(value: Any) -> str:
    """Return a value as one text, cut if it is long: texts as they are, others as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    more = len(text) - _MOST_CHARACTERS
    return f"{text[:_MOST_CHARACTERS]} … and {more:,} characters more" if more > 0 else text


def show_json(text: str) -> str:
    """Return a text of JSON indented, and another text as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def escape_controls(value: Any) -> Any:
    """Escape control characters in what goes into a page, and those that turn its direction."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return value if value.isprintable() else "".join(map(_escape, value))
    return value


def find_columns(objects: list[Mapping[str, Any]]) -> list[str]:
    """Return the names of all members, in the order of their first object."""
    return list(dict.fromkeys(name for each in objects for name in each))


def show_title(name: str) -> str:
    """Return a name such as `isComplete` as words."""
    words = "".join(f" {each.lower()}" if each.isupper() else each for each in name)
    return words[:1].upper() + words[1:]


def _escape(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "columns": find_columns,
    "json_text": show_json,
    "shown": show_text,
    "title_of": show_title,
}
