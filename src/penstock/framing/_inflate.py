"""The decompression of an untrusted zlib stream, within limits."""

from __future__ import annotations

import zlib

from penstock.errors import CorruptFrameError, InflateLimitError, TruncatedFrameError
from penstock.framing.frame import InflateLimits


def inflate(data: bytes, limits: InflateLimits, where: str) -> bytes:
    """Inflate exactly one zlib stream; at most one byte more than the limit is decompressed.

    Raises:
        InflateLimitError: the inflated data would be larger than the limits allow.
        TruncatedFrameError: the data ends before the stream does.
        CorruptFrameError: the data is not a zlib stream, or bytes follow its end.
    """
    limit = limits.allow(len(data))
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise CorruptFrameError(f"{where}: found no zlib stream ({error})") from None
    if len(inflated) > limit:
        raise InflateLimitError(
            f"{where}: found {len(data):,} compressed bytes that become more than {limit:,}, "
            f"expected at most {limits.free_bytes:,}, or {limits.max_ratio} times as many up to "
            f"{limits.max_bytes:,}"
        )
    if not stream.eof:
        raise TruncatedFrameError(
            f"{where}: found a zlib stream cut off after {len(data):,} bytes, expected its end"
        )
    if stream.unused_data:
        raise CorruptFrameError(
            f"{where}: found {len(stream.unused_data):,} bytes after the end of the zlib stream, "
            "expected none"
        )
    return inflated
