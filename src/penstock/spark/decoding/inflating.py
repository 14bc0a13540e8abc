"""Inflate compressed payloads in Python, since Spark's SQL cannot, or set their records aside."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from penstock.spark.decoding.frames import FrameStatus, RowStatus

IS_COMPRESSED: Final = f"""
    coalesce(status = '{FrameStatus.FRAMED}' AND compression = 'zlib', FALSE)"""
_INFLATED: Final = "_inflated"


def set_aside(frames: DataFrame) -> DataFrame:
    """Leave compressed frames undecoded: set their status to `later` and their payload to null."""
    columns = {
        "status": F.expr(f"IF({IS_COMPRESSED}, '{RowStatus.LATER}', status)"),
        "payload": F.expr(f"IF({IS_COMPRESSED}, NULL, payload)"),
    }
    return frames.withColumns(columns)


def inflate_payloads(frames: DataFrame) -> DataFrame:
    """Inflate the payloads of compressed frames, which then have no compression.

    A payload that cannot be inflated is null. Spark copies each row, compressed or not.
    """
    # Most queries meet no compressed record, and need no pyarrow.
    from penstock.spark.decoding.arrow_batches import inflate_batches  # noqa: PLC0415

    make_function: Any = arrow_udf
    inflate = make_function(inflate_batches, "binary")
    inflated = inflate(F.expr(f"IF({IS_COMPRESSED}, value, NULL)"))
    columns = {
        "payload": F.expr(f"IF({IS_COMPRESSED}, {_INFLATED}, payload)"),
        "compression": F.expr(f"IF({IS_COMPRESSED}, 'none', compression)"),
    }
    return frames.withColumn(_INFLATED, inflated).withColumns(columns).drop(_INFLATED)
