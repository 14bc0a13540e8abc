"""The function that inflates in Python processes; only they, and who calls it, need pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from penstock.errors import FramingError
from penstock.framing import decode_glue_frame

_BYTES_AT_ONCE: Final = 2**24


def inflate_batches(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """Yield the payloads of compressed frames, and null for those that cannot be inflated.

    All payloads of a batch may not fit into memory, so an array ends with the payload, of at most
    8 MiB, with which it exceeds 16 MiB.
    """
    for batch in batches:
        payloads: list[bytes | None] = []
        size = 0
        for value in batch.to_pylist():
            payload = None if value is None else _inflate(value)
            payloads.append(payload)
            size += len(payload or b"")
            if size >= _BYTES_AT_ONCE:
                yield pa.array(payloads, pa.binary())
                payloads, size = [], 0
        if payloads:
            yield pa.array(payloads, pa.binary())


def _inflate(value: bytes) -> bytes | None:
    try:
        return decode_glue_frame(value).payload
    except FramingError:
        return None
