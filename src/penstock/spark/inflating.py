"""Compressed payloads, inflated in Python and only they: Spark has no function for it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import FramingError
from penstock.framing import InflateLimits, decode_glue_frame


def inflate_payloads(frames: DataFrame) -> DataFrame:
    """Inflate the payloads of frames that are all compressed; null where that cannot be done."""
    # Without Arrow, which clusters may not have; these rows are few or dear anyway.
    inflate = F.udf(_inflate, "binary", useArrow=False)
    return frames.withColumn("payload", inflate("value"))


def _inflate(value: bytes) -> bytes | None:
    try:
        return decode_glue_frame(bytes(value), InflateLimits()).payload
    except FramingError:
        return None
