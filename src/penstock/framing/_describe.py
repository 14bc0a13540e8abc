"""The text by which error messages show the bytes of a value."""

from __future__ import annotations

_SHOWN_BYTES = 8


def describe(value: bytes) -> str:
    """Return the size and the first bytes of a value: `31 bytes (03 00 d3 e2 1a 3b f8 28 ...)`."""
    start = value[:_SHOWN_BYTES].hex(" ")
    more = " ..." if len(value) > _SHOWN_BYTES else ""
    return f"{len(value):,} bytes ({start}{more})" if value else "no bytes"
