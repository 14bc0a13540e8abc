"""Routes: which table the records of a schema, or of a topic, go to."""

from __future__ import annotations

import re
from typing import Final

# The placeholder in the name of a table or folder, which a route fills in.
TABLE: Final = "{table}"
_ROUTE: Final = re.compile(r"([A-Za-z0-9_.$#-]+)=([a-z0-9_]+)")


def name_table(topic: str) -> str:
    """Return what stands for {table} in names: the topic in lower case, with _ between words."""
    return re.sub(r"\W+", "_", topic).lower()


def parse_route(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a schema's name and a table from `SCHEMA=TABLE,...`; each occurs once.

    Raises:
        ValueError: the text is not such a list.
    """
    tables: dict[str, str] = {}
    for pair in text.split(","):
        match = _ROUTE.fullmatch(pair.strip())
        if match is None or match[1] in tables or match[2] in tables.values():
            raise ValueError(text)
        tables[match[1]] = match[2]
    return tuple(tables.items())
