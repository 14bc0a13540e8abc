"""Split the frames of Kafka records in SQL; only compressed payloads go through Python.

| column      | what it holds                                                                |
| ----------- | ---------------------------------------------------------------------------- |
| status      | `framed`, `tombstone`, or the `Reason` why the frame cannot be read          |
| schema      | the packed schema key, if the status is `framed`                             |
| compression | `none` or `zlib`, if the status is `framed`                                  |
| payload     | the bytes after the header, still compressed, if the status is `framed`      |

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
from penstock.framing import FrameKind, decode_glue_frame

_ID_HEADER: Final = "__value_schema_id"
# No lambda functions: with one, Spark would not compile the whole stage.
_NAMED: Final = f"array_contains(headers.key, '{_ID_HEADER}')"
# Confluent's clients take the last of several such headers.
_HEADER: Final = (
    "coalesce(element_at(headers.value, "
    f"-CAST(array_position(reverse(headers.key), '{_ID_HEADER}') AS INT)), X'')"
)
_NUMBER_SIZES: Final = {FrameKind.CONFLUENT: 4, FrameKind.APICURIO: 8}


class FrameStatus(StrEnum):
    """The status of a record whose frame has no `Reason` to be given up."""

    FRAMED = "framed"
    TOMBSTONE = "tombstone"


def split_frames(records: DataFrame, kinds: Collection[FrameKind] = (FrameKind.GLUE,)) -> DataFrame:
    """Add the columns above to records of Spark's Kafka source.

    `kinds` are the kinds of frames that have a registry, as in `decode_frame`.
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
    """SQL expressions over a record's value, and its headers if the source has them."""

    kinds: frozenset[FrameKind]
    with_headers: bool

    def status(self) -> str:
        """Return the status by the schema id in a header, else by the value's first byte."""
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
        named = self._header()
        if self.kinds <= {FrameKind.GLUE}:
            # No such record can be decoded. All the reasons would be more code than HotSpot
            # compiles for one method; the dead letter has the right one (`failures.Judge`).
            named = f"'{Reason.NO_REGISTRY_FOR_FRAMING}'"
        return f"CASE WHEN value IS NOT NULL AND {_NAMED} THEN {named} ELSE {value} END"

    def schema(self) -> str:
        """Return the packed schema key of a readable frame."""
        zero = f"substring(value, 1, {1 + _NUMBER_SIZES[self._zero()]})"
        return self._choose(_HEADER, "substring(value, 3, 16)", zero, "substring(value, 1, 17)")

    def compression(self) -> str:
        """Return the compression of a readable frame."""
        glue = "IF(substring(value, 2, 1) = X'05', 'zlib', 'none')"
        return self._choose("'none'", glue, "'none'", "'none'")

    def payload(self) -> str:
        """Return the payload of a readable frame."""
        zero = f"substring(value, {2 + _NUMBER_SIZES[self._zero()]})"
        return self._choose("value", "substring(value, 19)", zero, "substring(value, 18)")

    def _choose(self, named: str, glue: str, zero: str, guid: str) -> str:
        """Choose by the kind of frame; if only Glue has a registry, return its expression."""
        if self.kinds <= {FrameKind.GLUE}:
            return glue
        in_header = f"WHEN {_NAMED} THEN {named}" if self.with_headers else ""
        return f"""
            CASE {in_header}
                 WHEN {_starts("value", 3)} THEN {glue}
                 WHEN {_starts("value", 0)} THEN {zero}
                 ELSE {guid} END"""

    def _zero(self) -> FrameKind:
        """Return the kind of a frame that starts with 0."""
        has_apicurio = FrameKind.APICURIO in self.kinds
        return FrameKind.APICURIO if has_apicurio else FrameKind.CONFLUENT

    def _known(self, kind: FrameKind) -> str:
        return FrameStatus.FRAMED if kind in self.kinds else Reason.NO_REGISTRY_FOR_FRAMING

    def _header(self) -> str:
        """Return the status of a record with a schema id in a header."""
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
    """Return the condition that a valid id, a number from 1, follows the first byte."""
    return f"(substring({sql}, 2, 1) < X'80' AND substring({sql}, 2, {size}) > X'{'00' * size}')"


def inflate_payloads(frames: DataFrame) -> DataFrame:
    """Inflate the payloads of compressed frames; a payload that cannot be inflated is null."""
    # No Arrow: clusters may lack it, and these rows are few or expensive anyway.
    inflate = F.udf(_inflate, "binary", useArrow=False)
    return frames.withColumn("payload", inflate("value"))


def _inflate(value: bytes) -> bytes | None:
    try:
        return decode_glue_frame(bytes(value)).payload
    except FramingError:
        return None
