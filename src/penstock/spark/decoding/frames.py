"""The frames of Kafka records, opened in SQL: no Python sees a record that is well.

| column      | what it holds                                                                |
| ----------- | ---------------------------------------------------------------------------- |
| status      | `framed`, `tombstone`, or the `Reason` for which the frame cannot be read    |
| schema      | the schema version's id, 16 bytes, where the status is `framed`              |
| compression | `none` or `zlib`, where the status is `framed`                               |
| payload     | the bytes behind the header, still compressed, where the status is `framed`  |

The reasons are those of `penstock.framing.decode_frame`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.errors import FramingError, Reason
from penstock.framing import InflateLimits, decode_glue_frame

_ID_HEADER: Final = "__value_schema_id"


class FrameStatus(StrEnum):
    """What a record is, where no `Reason` stands against it."""

    FRAMED = "framed"
    TOMBSTONE = "tombstone"


def split_frames(records: DataFrame, *, apicurio: bool = False) -> DataFrame:
    """Add the columns above to records of Spark's Kafka source.

    With `apicurio`, a first byte of 0 is followed by Apicurio's 8-byte id, not Confluent's 4.
    """
    status = _status(apicurio)
    if "headers" in records.columns:
        # Without lambdas, which would keep the whole stage from being compiled.
        named = f"array_contains(headers.key, '{_ID_HEADER}')"
        status = (
            f"CASE WHEN value IS NOT NULL AND {named} THEN {_header_status()} ELSE {status} END"
        )
    return records.withColumn("status", F.expr(status)).withColumns(
        {
            "schema": _where_framed("substring(value, 3, 16)"),
            "compression": _where_framed("IF(substring(value, 2, 1) = X'05', 'zlib', 'none')"),
            "payload": _where_framed("substring(value, 19)"),
        }
    )


def _where_framed(sql: str) -> Column:
    return F.expr(f"IF(status = '{FrameStatus.FRAMED}', {sql}, NULL)")


def _status(apicurio: bool) -> str:
    zero = _id_status("value", 9, Reason.NO_REGISTRY_FOR_FRAMING) if apicurio else _confluent()
    return f"""
        CASE WHEN value IS NULL THEN '{FrameStatus.TOMBSTONE}'
             WHEN substring(value, 1, 1) = X'03' THEN
                  CASE WHEN length(value) < 18 THEN '{Reason.TRUNCATED}'
                       WHEN substring(value, 2, 1) IN (X'00', X'05') THEN '{FrameStatus.FRAMED}'
                       ELSE '{Reason.UNKNOWN_FRAMING}' END
             WHEN substring(value, 1, 1) = X'00' THEN {zero}
             WHEN substring(value, 1, 1) = X'01' THEN {_guid()}
             ELSE '{Reason.UNKNOWN_FRAMING}' END"""


def _header_status() -> str:
    """Judge a schema id in a header of the record; of several, clients take the last."""
    place = f"-CAST(array_position(reverse(headers.key), '{_ID_HEADER}') AS INT)"
    header = f"coalesce(element_at(headers.value, {place}), X'')"
    too_long = f"length({header}) > 5 AND {_is_id(header, 4)}"
    return f"""
        CASE WHEN length({header}) = 0 THEN '{Reason.TRUNCATED}'
             WHEN substring({header}, 1, 1) = X'00' THEN
                  IF({too_long}, '{Reason.UNDECODABLE}', {_confluent(header)})
             WHEN substring({header}, 1, 1) = X'01' THEN
                  IF(length({header}) > 17, '{Reason.UNDECODABLE}', {_guid(header)})
             ELSE '{Reason.UNKNOWN_FRAMING}' END"""


def _confluent(sql: str = "value") -> str:
    return _id_status(sql, 5, Reason.NO_REGISTRY_FOR_FRAMING)


def _guid(sql: str = "value") -> str:
    return f"IF(length({sql}) < 17, '{Reason.TRUNCATED}', '{Reason.NO_REGISTRY_FOR_FRAMING}')"


def _id_status(sql: str, size: int, known: Reason) -> str:
    return f"""
        CASE WHEN length({sql}) < {size} THEN '{Reason.TRUNCATED}'
             WHEN {_is_id(sql, size - 1)} THEN '{known}'
             ELSE '{Reason.UNKNOWN_FRAMING}' END"""


def _is_id(sql: str, size: int) -> str:
    """Whether what follows the first byte is a number that a registry gives out: 1 or more."""
    return f"(substring({sql}, 2, 1) < X'80' AND substring({sql}, 2, {size}) > X'{'00' * size}')"


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
