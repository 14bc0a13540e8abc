"""The frames of Kafka records, opened in SQL: no Python sees a record that is well.

| column      | what it holds                                                                |
| ----------- | ---------------------------------------------------------------------------- |
| status      | `framed`, `tombstone`, or the `Reason` for which the frame cannot be read    |
| schema      | the schema's key, packed, where the status is `framed`                         |
| compression | `none` or `zlib`, where the status is `framed`                               |
| payload     | the bytes behind the header, still compressed, where the status is `framed`  |

The reasons are those of `penstock.framing.decode_frame`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.errors import FramingError, Reason
from penstock.framing import FrameKind, InflateLimits, decode_glue_frame

_ID_HEADER: Final = "__value_schema_id"
# Without lambdas, which would keep the whole stage from being compiled.
_NAMED: Final = f"array_contains(headers.key, '{_ID_HEADER}')"
# Of several, Confluent's clients take the last.
_HEADER: Final = (
    "coalesce(element_at(headers.value, "
    f"-CAST(array_position(reverse(headers.key), '{_ID_HEADER}') AS INT)), X'')"
)
_NUMBER_SIZES: Final = {FrameKind.CONFLUENT: 4, FrameKind.APICURIO: 8}


class FrameStatus(StrEnum):
    """What a record is, where no `Reason` stands against it."""

    FRAMED = "framed"
    TOMBSTONE = "tombstone"


def split_frames(records: DataFrame, kinds: Collection[FrameKind] = (FrameKind.GLUE,)) -> DataFrame:
    """Add the columns above to records of Spark's Kafka source.

    `kinds` are those of which there is a registry, as `decode_frame` takes them.
    """
    sql = _FrameSql(frozenset(kinds), "headers" in records.columns)
    return records.withColumn("status", F.expr(sql.status())).withColumns(
        {
            "schema": _where_framed(sql.schema()),
            "compression": _where_framed(sql.compression()),
            "payload": _where_framed(sql.payload()),
        }
    )


def _where_framed(sql: str) -> Column:
    return F.expr(f"IF(status = '{FrameStatus.FRAMED}', {sql}, NULL)")


@dataclass(frozen=True, slots=True)
class _FrameSql:
    """The expressions over a record's value, and its headers where the source has them."""

    kinds: frozenset[FrameKind]
    with_headers: bool

    def status(self) -> str:
        """Judge the frame: whose schema is in a header, else by the value's first byte."""
        value = f"""
            CASE WHEN value IS NULL THEN '{FrameStatus.TOMBSTONE}'
                 WHEN {_starts("value", 3)} THEN
                      CASE WHEN length(value) < 18 THEN '{Reason.TRUNCATED}'
                           WHEN substring(value, 2, 1) NOT IN (X'00', X'05')
                                THEN '{Reason.UNKNOWN_FRAMING}'
                           ELSE '{self._known(FrameKind.GLUE)}' END
                 WHEN {_starts("value", 0)} THEN {self._number("value", self._zero())}
                 WHEN {_starts("value", 1)} THEN {self._guid("value")}
                 ELSE '{Reason.UNKNOWN_FRAMING}' END"""
        if not self.with_headers:
            return value
        return f"CASE WHEN value IS NOT NULL AND {_NAMED} THEN {self._header()} ELSE {value} END"

    def schema(self) -> str:
        """Find the packed key of a frame that can be read."""
        zero = f"substring(value, 1, {1 + _NUMBER_SIZES[self._zero()]})"
        return self._choose(_HEADER, "substring(value, 3, 16)", zero, "substring(value, 1, 17)")

    def compression(self) -> str:
        """Tell how the payload of a frame that can be read is compressed."""
        glue = "IF(substring(value, 2, 1) = X'05', 'zlib', 'none')"
        return self._choose("'none'", glue, "'none'", "'none'")

    def payload(self) -> str:
        """Find the payload of a frame that can be read."""
        zero = f"substring(value, {2 + _NUMBER_SIZES[self._zero()]})"
        return self._choose("value", "substring(value, 19)", zero, "substring(value, 18)")

    def _choose(self, named: str, glue: str, zero: str, guid: str) -> str:
        """Choose by the frame's kind, as far as there is a registry of more than Glue's."""
        if self.kinds <= {FrameKind.GLUE}:
            return glue
        in_header = f"WHEN {_NAMED} THEN {named}" if self.with_headers else ""
        return f"""
            CASE {in_header}
                 WHEN {_starts("value", 3)} THEN {glue}
                 WHEN {_starts("value", 0)} THEN {zero}
                 ELSE {guid} END"""

    def _zero(self) -> FrameKind:
        """Say whose a frame is that starts with 0."""
        has_apicurio = FrameKind.APICURIO in self.kinds
        return FrameKind.APICURIO if has_apicurio else FrameKind.CONFLUENT

    def _known(self, kind: FrameKind) -> str:
        return FrameStatus.FRAMED if kind in self.kinds else Reason.NO_REGISTRY_FOR_FRAMING

    def _header(self) -> str:
        """Judge a schema id in a header of the record."""
        number = self._number(_HEADER, FrameKind.CONFLUENT)
        too_long = f"length({_HEADER}) > 5 AND {_is_number(_HEADER, 4)}"
        return f"""
            CASE WHEN length({_HEADER}) = 0 THEN '{Reason.TRUNCATED}'
                 WHEN {_starts(_HEADER, 0)} THEN
                      IF({too_long}, '{Reason.UNDECODABLE}', {number})
                 WHEN {_starts(_HEADER, 1)} THEN
                      IF(length({_HEADER}) > 17, '{Reason.UNDECODABLE}', {self._guid(_HEADER)})
                 ELSE '{Reason.UNKNOWN_FRAMING}' END"""

    def _guid(self, sql: str) -> str:
        known = self._known(FrameKind.CONFLUENT)
        return f"IF(length({sql}) < 17, '{Reason.TRUNCATED}', '{known}')"

    def _number(self, sql: str, kind: FrameKind) -> str:
        size = _NUMBER_SIZES[kind]
        return f"""
            CASE WHEN length({sql}) <= {size} THEN '{Reason.TRUNCATED}'
                 WHEN {_is_number(sql, size)} THEN '{self._known(kind)}'
                 ELSE '{Reason.UNKNOWN_FRAMING}' END"""


def _starts(sql: str, byte: int) -> str:
    return f"substring({sql}, 1, 1) = X'{byte:02x}'"


def _is_number(sql: str, size: int) -> str:
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
