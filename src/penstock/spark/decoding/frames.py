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

_NUMBER_SIZES: Final = {FrameKind.CONFLUENT: 4, FrameKind.APICURIO: 8}
_ID_HEADERS: Final = {
    FrameKind.CONFLUENT: "__value_schema_id",
    FrameKind.APICURIO: "apicurio.value.globalId",
}
# Helper columns, computed once: repeating these expressions made a method too large for HotSpot's
# JIT (8,000 bytes).
_HELPER_COLUMNS: Final = ("_id_in_header", "_id_of_other_registry", "_framing")


class FrameStatus(StrEnum):
    """The status of a record whose frame has no `Reason` to be given up."""

    FRAMED = "framed"
    TOMBSTONE = "tombstone"


def split_frames(records: DataFrame, kinds: Collection[FrameKind] = (FrameKind.GLUE,)) -> DataFrame:
    """Add the columns above to records of Spark's Kafka source.

    `kinds` are the kinds of frames that have a registry, as in `decode_frame`.
    """
    sql = _FrameSql(frozenset(kinds), "headers" in records.columns)
    columns = dict(zip(_HELPER_COLUMNS, map(F.expr, sql.helper_columns()), strict=True))
    return (
        records.withColumns(columns)
        .withColumn("status", F.expr(sql.status()))
        .withColumns(
            {
                "schema": _where_framed(sql.schema()),
                "compression": _where_framed(sql.compression()),
                "payload": _where_framed(sql.payload()),
            }
        )
        .drop(*_HELPER_COLUMNS)
    )


def _where_framed(sql: str) -> Column:
    return F.expr(f"IF(status = '{FrameStatus.FRAMED}', {sql}, NULL)")


@dataclass(frozen=True, slots=True)
class _FrameSql:
    """SQL expressions over a record's value, and its headers if the source has them."""

    kinds: frozenset[FrameKind]
    with_headers: bool

    def helper_columns(self) -> tuple[str, str, str]:
        """Return the columns `_HELPER_COLUMNS`.

        They hold whether a header has the schema id, whether one has the id of a kind without a
        registry, and the bytes that start with the id: the value or a header.
        """
        kind = self._zero()
        others = [_has(name) for each, name in _ID_HEADERS.items() if each not in self.kinds]
        elsewhere = " OR ".join(others) if self.with_headers and others else "false"
        if not (self.with_headers and kind in self.kinds):
            return "false", elsewhere, "value"
        named, header = _has(_ID_HEADERS[kind]), _last(_ID_HEADERS[kind])
        # Apicurio's header is the id alone; Confluent's has the first byte of its frame too.
        framing = f"concat(X'00', {header})" if kind is FrameKind.APICURIO else header
        return named, f"NOT {named} AND ({elsewhere})", f"IF({named}, {framing}, value)"

    def status(self) -> str:
        """Return the status by the first byte before the schema id."""
        # The dead letter of a record whose id is another registry's has the right reason
        # (`failures.Judge`): it cannot be decoded anyway.
        return f"""
            CASE WHEN value IS NULL THEN '{FrameStatus.TOMBSTONE}'
                 WHEN _id_of_other_registry THEN '{Reason.NO_REGISTRY_FOR_FRAMING}'
                 WHEN {_starts(0)} THEN {self._number(self._zero())}
                 WHEN {_starts(1)} THEN {self._known_after(17, FrameKind.CONFLUENT)}
                 WHEN _id_in_header THEN
                      IF(length(_framing) = 0, '{Reason.TRUNCATED}', '{Reason.UNKNOWN_FRAMING}')
                 WHEN {_starts(3)} THEN
                      CASE WHEN length(value) < 18 THEN '{Reason.TRUNCATED}'
                           WHEN substring(value, 2, 1) NOT IN (X'00', X'05')
                                THEN '{Reason.UNKNOWN_FRAMING}'
                           ELSE '{self._known(FrameKind.GLUE)}' END
                 ELSE '{Reason.UNKNOWN_FRAMING}' END"""

    def schema(self) -> str:
        """Return the packed schema key of a readable frame."""
        zero = f"substring(_framing, 1, {1 + _NUMBER_SIZES[self._zero()]})"
        return self._choose("substring(value, 3, 16)", zero, "substring(_framing, 1, 17)")

    def compression(self) -> str:
        """Return the compression of a readable frame."""
        glue = "IF(substring(value, 2, 1) = X'05', 'zlib', 'none')"
        return self._choose(glue, "'none'", "'none'")

    def payload(self) -> str:
        """Return the payload of a readable frame."""
        zero = f"substring(value, {2 + _NUMBER_SIZES[self._zero()]})"
        inside = self._choose("substring(value, 19)", zero, "substring(value, 18)")
        return inside if self.kinds <= {FrameKind.GLUE} else f"IF(_id_in_header, value, {inside})"

    def _choose(self, glue: str, zero: str, guid: str) -> str:
        """Choose by the kind of frame; if only Glue has a registry, return its expression."""
        if self.kinds <= {FrameKind.GLUE}:
            return glue
        return f"CASE WHEN {_starts(0)} THEN {zero} WHEN {_starts(1)} THEN {guid} ELSE {glue} END"

    def _zero(self) -> FrameKind:
        """Return the kind of a frame that starts with 0."""
        has_apicurio = FrameKind.APICURIO in self.kinds
        return FrameKind.APICURIO if has_apicurio else FrameKind.CONFLUENT

    def _known(self, kind: FrameKind) -> str:
        return FrameStatus.FRAMED if kind in self.kinds else Reason.NO_REGISTRY_FOR_FRAMING

    def _number(self, kind: FrameKind) -> str:
        """Return the status of an id that must be a number from 1."""
        size = _NUMBER_SIZES[kind]
        is_number = (
            "substring(_framing, 2, 1) < X'80' "
            f"AND substring(_framing, 2, {size}) > X'{'00' * size}'"
        )
        return f"""
            CASE WHEN length(_framing) > {size} AND NOT ({is_number})
                      THEN '{Reason.UNKNOWN_FRAMING}'
                 ELSE {self._known_after(1 + size, kind)} END"""

    def _known_after(self, size: int, kind: FrameKind) -> str:
        """Return the status of an id by its size; nothing may follow an id in a header."""
        return f"""
            CASE WHEN length(_framing) < {size} THEN '{Reason.TRUNCATED}'
                 WHEN _id_in_header AND length(_framing) > {size} THEN '{Reason.UNDECODABLE}'
                 ELSE '{self._known(kind)}' END"""


# No lambda functions: with one, Spark would not compile the whole stage.
def _has(header: str) -> str:
    return f"coalesce(array_contains(headers.key, '{header}'), false)"


def _last(header: str) -> str:
    """Return the value of the last header with a name, as Confluent's clients do."""
    position = f"-CAST(array_position(reverse(headers.key), '{header}') AS INT)"
    return f"coalesce(element_at(headers.value, {position}), X'')"


def _starts(byte: int) -> str:
    return f"substring(_framing, 1, 1) = X'{byte:02x}'"


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
