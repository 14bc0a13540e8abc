"""The names of fields, which in JSON events may have any name: in Avro, and in messages."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARK = re.compile(r"_x[0-9a-f]{4}")
_REFUSED = re.compile(r"[^A-Za-z0-9_]|^[0-9]|_(?=x[0-9a-f]{4})")
_EMPTY = "_x_"
_SHOWN_CHARACTERS = 40


def avro_name(json_name: str) -> str:
    """Return the Avro name of a JSON name; no other JSON name has the same one.

    A character that Avro does not allow becomes `_x` + its code point in hexadecimal + `_`, as in
    SQL/XML (ISO 9075-14): `temp-c` is `temp_x002d_c`. In text that looks like such an escape, the
    underscore is escaped too.
    """
    if _PLAIN.fullmatch(json_name) and not _MARK.search(json_name) and json_name != _EMPTY:
        return json_name
    if json_name in {"", _EMPTY}:
        return _EMPTY if not json_name else f"{_mark('_')}x_"
    return _REFUSED.sub(lambda found: _mark(found[0]), json_name)


def join_path(path: str, key: str) -> str:
    """Return the path of a member; the path can be printed whatever the key holds."""
    if len(key) > _SHOWN_CHARACTERS:
        key = f"{key[:_SHOWN_CHARACTERS]}..."
    key = key.encode("utf-8", "backslashreplace").decode()
    return f"{path}.{key}" if path else key


def _mark(character: str) -> str:
    return f"_x{ord(character):04x}_"
