"""The canonical form: one text for all the ways to write one schema."""

from __future__ import annotations

import json

from penstock.schemas._types import resolve
from penstock.schemas._writing import to_schema
from penstock.schemas.definition import Schema


def canonical_form(schema: Schema) -> str:
    """Return the text of a schema that is registered, and that caches use as a key.

    Two schemas have the same text if they differ only in white space, in the order of attributes
    or of aliases, in how names are written (with a separate namespace or not), and in how plain
    types are written (`"long"`, `{"type": "long"}`). Everything else makes a difference, the
    order of fields too. The text is a valid definition of the same schema.
    """
    return json.dumps(to_schema(resolve(schema)), separators=(",", ":"))
