"""The pages as tools of an agent: what each takes, and its answer as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.errors import OperationError
from penstock.extensions.console.model import Page
from penstock.extensions.console.pages import COMPARE, PAGES
from penstock.extensions.console.reader import Reader

_COMPARE: Final = Page(
    "compare", "Compare versions", "The differences of two versions of a schema.", COMPARE
)
TOOLS: Final = {each.name.replace("-", "_"): each for each in (*PAGES, _COMPARE)}
MOST_CHARACTERS: Final = 100_000


def describe_input(page: Page, profiles: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    fields = {each.name: {"type": "string", "title": each.label} for each in page.command.fields}
    for each in page.command.fields:
        if each.default:
            fields[each.name]["default"] = each.default
    return {
        "type": "object",
        "properties": {**fields, "profile": {"type": "string", "enum": list(profiles)}},
        "required": [each.name for each in page.command.fields if each.is_required],
        "additionalProperties": False,
    }


async def answer(reader: Reader, tool: str, given: Mapping[str, Any]) -> tuple[str, bool]:
    """Return what the command of a tool prints, cut if it is long, and whether it failed."""
    if tool not in TOOLS:
        return f"found the tool {tool!r}, expected one of {', '.join(TOOLS)}", True
    page = TOOLS[tool]
    texts = {name: str(value) for name, value in given.items()}
    known = {"profile", *(each.name for each in page.command.fields)}
    if unknown := sorted(texts.keys() - known):
        return f"found {', '.join(unknown)}, expected some of {', '.join(sorted(known))}", True
    if missing := page.command.find_missing(page.command.read_values(texts)):
        return f"found no {missing[0].name}, expected one", True
    try:
        profile = reader.choose(texts.get("profile", ""), page.sides)
    except OperationError as error:
        return str(error), True
    shown = await reader.read(profile, page.command, texts)
    text = "\n".join(json.dumps(each) for each in shown.objects)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n(cut after {MOST_CHARACTERS:,} characters)"
    if not shown.is_whole:
        text += f"\n(only the first {len(shown.objects):,} objects)"
    return f"$ {shown.run.command}\n{text}\n{shown.run.error}".rstrip(), shown.run.code != 0
