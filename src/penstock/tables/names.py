"""Names of columns that people read, made of the names that fields have in JSON.

| who                              | which names it takes                                          |
| -------------------------------- | ------------------------------------------------------------- |
| Iceberg                          | any                                                           |
| Glue                             | printable, of 255 bytes at most                               |
| Athena                           | no case, and no special character but `_`                     |
| Hive's types, inside of a struct | letters and digits that are one unit of UTF-16, `_` and `.`   |

So letters, digits and `_` stay, and what is between them becomes one `_` (docs/adr/0043).

The comment of a column names its field, if its own name does not: `field "Order-ID"` in JSON, as a
string of JSON, or `field Temp` in Avro. A column without such a comment holds the field that has
its name in Avro, as all did in older versions.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

MARK: Final = "field "
COMMENT_BYTES: Final = 255  # of a column in the Glue catalog
_NAME_BYTES: Final = 240  # which leaves room for a number
_NAMELESS: Final = "field"
_BEFORE: Final = re.compile(r"_before_\d+_(.+)")
_RUN: Final = re.compile("\0+")
# What a string of JSON may hold unescaped, and a comment of Glue may not.
_UNPRINTABLE: Final = re.compile("[\ufffe\uffff]")


def name_column(json_name: str) -> str:
    """Return the name of the column of a field; other fields may have the same one.

    A name of letters, digits and `_` stays as it is.
    """
    text = unicodedata.normalize("NFC", json_name)
    kept = "".join(each if _is_kept(each) else "\0" for each in text).strip("\0")
    name = _RUN.sub("_", kept) or _NAMELESS
    return name.encode()[:_NAME_BYTES].decode(errors="ignore")


def mark_field(name: str, json_name: str) -> str:
    """Return the comment that names a field in JSON; empty if it has that name in Avro too.

    It is also empty for a name that no comment holds, which only an author of a schema can give.
    """
    if name == json_name:
        return ""
    text = json.dumps(json_name, ensure_ascii=False)
    text = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    comment = f"{MARK}{text}"
    return comment if len(comment.encode()) <= COMMENT_BYTES else ""


def read_json_name(comment: str) -> str | None:
    """Return the name in JSON that a comment of `mark_field` has, else None."""
    if not comment.startswith(f'{MARK}"'):
        return None
    try:
        found = json.loads(comment.removeprefix(MARK))
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def read_name(comment: str) -> str | None:
    """Return the name in Avro that a comment has, else None."""
    if not comment.startswith(MARK) or read_json_name(comment) is not None:
        return None
    return comment.removeprefix(MARK)


def mark_replaced(column: str) -> str:
    """Return how the comment of a column begins that a wider one replaced under its name.

    The longest name leaves it whole.
    """
    return f"{column} before it became "


def read_replaced(name: str, comment: str) -> str | None:
    """Return the name that a column had before a wider one replaced it, or None if none did.

    An event may have a field with such a name.
    """
    match = _BEFORE.fullmatch(name)
    return match[1] if match and comment.startswith(mark_replaced(match[1])) else None


def _is_kept(character: str) -> bool:
    """Return whether Java's `isLetterOrDigit` of one `char`, or Athena's `_`, takes it."""
    category = unicodedata.category(character)
    is_word = category.startswith("L") or category == "Nd" or character == "_"
    return is_word and ord(character) <= 0xFFFF
