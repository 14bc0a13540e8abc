"""One text for all the ways to write one schema."""

from __future__ import annotations

import json

from penstock.schemas._types import resolve
from penstock.schemas._writing import to_schema
from penstock.schemas.definition import Schema


def canonical_form(schema: Schema) -> str:
    """Write a schema as the text that is registered and that keys caches.

    Two schemas have the same text when they differ only in white space, in the order of the
    attributes or of aliases, in how names are spelled (namespace apart or not) and in how plain
    types are (`"long"`, `{"type": "long"}`). All else counts, the order of fields included, and is
    kept: the text is a valid definition of the same schema.
    """
    return json.dumps(to_schema(resolve(schema)), separators=(",", ":"))
