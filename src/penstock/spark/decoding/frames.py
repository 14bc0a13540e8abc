"""Split the frames of Kafka records in SQL.

| column      | what it holds                                                                |
| ----------- | ---------------------------------------------------------------------------- |
| status      | `framed`, `tombstone`, or the `Reason` why the frame cannot be read          |
| schema      | the packed schema key, if the status is `framed`                             |
| compression | `none` or `zlib`, if the status is `framed`                                  |
| payload     | the bytes after the header, still compressed, if the status is `framed`      |

The reasons are those of `penstock.framing.decode_frame`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.errors import Reason
from penstock.framing import (
    CONFLUENT_ID,
    ENCODING,
    GLOBAL_ID,
    ID_HEADERS,
    FrameKind,
    Framing,
    SchemaKey,
    encode_frame,
)

# Helper columns, each computed once: repeating these expressions made a method too large for
# HotSpot's JIT (8,000 bytes).
_NAMES: Final = "_names"  # of the headers, the last one first
_ID_HEADER: Final = "_id_header"  # the name of the header with the schema id, or null
_ID: Final = "_id"  # the bytes of this header
_FRAMING: Final = "_framing"  # the bytes that start with the id, as in a frame
_IS_PAYLOAD: Final = "_is_payload"  # whether the whole value is the payload
_SIZE: Final = "_size"  # of the header of this kind of frame; 0 for no frame
_SIZES: Final = {FrameKind.GLUE: "18", FrameKind.CONFLUENT: "5, 17", FrameKind.APICURIO: "9"}
_SIZE_SQL: Final = f"""
    CASE WHEN substring({_FRAMING}, 1, 5) = X'0000000000' THEN 9
         ELSE CASE substring({_FRAMING}, 1, 1)
              WHEN X'00' THEN 5 WHEN X'01' THEN 17 WHEN X'03' THEN 18
              ELSE IF({_IS_PAYLOAD} AND length({_FRAMING}) = 0, 1, 0) END END"""
_SCHEMA: Final = f"""
    IF({_SIZE} = 18, substring({_FRAMING}, 3, 16), substring({_FRAMING}, 1, {_SIZE}))"""
_COMPRESSION: Final = f"IF(substring({_FRAMING}, 1, 2) = X'0305', 'zlib', 'none')"
_PAYLOAD: Final = f"IF({_IS_PAYLOAD}, value, substring(value, 1 + {_SIZE}))"
_LEAST_ID, _GREATEST_ID = "X'0000000000000001'", "X'000000007fffffff'"
_IS_BINARY: Final = f"""
    IF(array_contains({_NAMES}, '{ENCODING}'),
       coalesce(element_at(headers.value, -CAST(array_position({_NAMES}, '{ENCODING}') AS INT))
                = X'{b"BINARY".hex()}', false),
       true)"""
_BAD_HEADER: Final = "X'02'"  # no frame starts with this byte
# Never true, but Spark cannot know that, and moves no filter below the projection that has it. By
# status, such a filter would split each frame again for every reference to a helper column (with
# headers, it was 700 kB long and took seconds to plan), and decode each record again.
STAYS_HERE: Final = "spark_partition_id() < 0"


class FrameStatus(StrEnum):
    """The status of a record whose frame has no `Reason` to be given up."""

    FRAMED = "framed"
    TOMBSTONE = "tombstone"


class RowStatus(StrEnum):
    """The status of a framed record that has no `Reason` to be given up."""

    DECODED = "decoded"
    UNKNOWN = "unknown"  # a version that the decoder does not know
    ELSEWHERE = "elsewhere"  # its schema is routed to another table
    EMPTY = "empty"  # all columns that are chosen for its table are empty


# Of records that are neither bad nor still framed.
FINE: Final = (*RowStatus, FrameStatus.TOMBSTONE)


def split_frames(records: DataFrame, framing: Framing) -> DataFrame:
    """Add the columns above to records of Spark's Kafka source."""
    sql = _FrameSql(framing, "headers" in records.columns)
    with_helpers = records
    for name, column in (helpers := sql.helper_columns()).items():
        with_helpers = with_helpers.withColumn(name, F.expr(column))
    return (
        with_helpers.withColumn("status", F.expr(sql.status()))
        .withColumns(
            {
                "schema": _where_framed(_SCHEMA),
                "compression": _where_framed(_COMPRESSION),
                "payload": _where_framed(_PAYLOAD),
            }
        )
        .drop(*helpers)
    )


def _where_framed(sql: str) -> Column:
    return F.expr(f"IF(status = '{FrameStatus.FRAMED}', {sql}, NULL)")


@dataclass(frozen=True, slots=True)
class _FrameSql:
    """SQL expressions over a record's value and topic, and its headers if the source has them."""

    framing: Framing
    with_headers: bool

    def helper_columns(self) -> dict[str, str]:
        """Return the helper columns, each of which refers to those before."""
        topics = [f"topic = '{topic}'" for topic in self.framing.unframed]
        if not self.with_headers:
            return {
                _FRAMING: self._framing([]),
                _IS_PAYLOAD: " OR ".join(topics) or "false",
                _SIZE: _SIZE_SQL,
            }
        names = sorted(ID_HEADERS, key=lambda name: not self.framing.has_registry(name))
        found = " ".join(f"WHEN {_has(name)} THEN '{name}'" for name in names)
        known = [name for name in names if self.framing.has_registry(name)]
        last = f"element_at(headers.value, {_last_position(_ID_HEADER)})"
        return {
            _NAMES: "reverse(headers.key)",
            _ID_HEADER: f"CASE {found} END",
            _ID: f"IF({_ID_HEADER} IS NOT NULL, coalesce({last}, X''), NULL)" if known else "NULL",
            _FRAMING: self._framing(known),
            _IS_PAYLOAD: " OR ".join([f"{_ID_HEADER} IS NOT NULL", *topics]),
            _SIZE: _SIZE_SQL,
        }

    def _framing(self, headers: Sequence[str]) -> str:
        """Return the bytes of a frame up to its id: of a header, the topic's schema or the value.

        The bytes of a header that holds no id, or whose payload is JSON, are no start of a frame.
        """
        cases = []
        if CONFLUENT_ID in headers:
            is_bad = f"{_ID} >= X'02' OR substring({_ID}, 1, 5) = X'0000000000'"
            is_own = f"{_ID_HEADER} = '{CONFLUENT_ID}'"
            cases.append(f"WHEN {is_own} THEN IF({is_bad}, {_BAD_HEADER}, {_ID})")
        if headers:
            is_id = f"length({_ID}) = 8 AND {_ID} BETWEEN {_LEAST_ID} AND {_GREATEST_ID}"
            start = f"substring({_ID}, IF({_ID_HEADER} = '{GLOBAL_ID}', 1, 5))"
            is_own = f"{_ID_HEADER} IS NOT NULL"
            read = f"IF({is_id} AND {_IS_BINARY}, concat(X'00', {start}), {_BAD_HEADER})"
            cases.append(f"WHEN {is_own} THEN {read}")
        unframed = self.framing.unframed.items()
        cases += [f"WHEN topic = '{each}' THEN X'{_start(key)}'" for each, key in unframed]
        return f"CASE {' '.join(cases)} ELSE value END" if cases else "value"

    def _is_elsewhere(self) -> str:
        """Return the condition that a header whose ids no registry has holds the schema id."""
        others = [name for name in ID_HEADERS if not self.framing.has_registry(name)]
        names = ", ".join(f"'{name}'" for name in others)
        return f"{_ID_HEADER} IN ({names})" if others and self.with_headers else "false"

    def status(self) -> str:
        """Return the status by the bytes up to the schema id."""
        # The dead letter of a record whose id is another registry's has the right reason
        # (`failures.FailureFinder`): it cannot be decoded anyway.
        known = ", ".join(str(_SIZES[kind]) for kind in _SIZES if kind in self.framing.kinds)
        return f"""
            CASE WHEN value IS NULL OR {STAYS_HERE} THEN '{FrameStatus.TOMBSTONE}'
                 WHEN {self._is_elsewhere()} THEN '{Reason.NO_REGISTRY_FOR_FRAMING}'
                 WHEN {_SIZE} = 0 THEN '{Reason.UNKNOWN_FRAMING}'
                 WHEN length({_FRAMING}) < {_SIZE} THEN '{Reason.TRUNCATED}'
                 WHEN CASE {_SIZE} WHEN 18 THEN substring({_FRAMING}, 2, 1) NOT IN (X'00', X'05')
                                   WHEN 9 THEN substring({_FRAMING}, 6, 4) = X'00000000'
                                   WHEN 5 THEN substring({_FRAMING}, 2, 1) >= X'80'
                                   ELSE false END THEN '{Reason.UNKNOWN_FRAMING}'
                 WHEN {_IS_PAYLOAD} AND length({_FRAMING}) > {_SIZE} THEN '{Reason.UNDECODABLE}'
                 WHEN {_SIZE} NOT IN ({known}) THEN '{Reason.NO_REGISTRY_FOR_FRAMING}'
                 ELSE '{FrameStatus.FRAMED}' END"""


# No lambda functions: with one, Spark would not compile the whole stage.
def _has(header: str) -> str:
    return f"array_contains({_NAMES}, '{header}')"


def _last_position(header: str) -> str:
    """Return the position of the last header with a name, the one that other clients use too."""
    return f"-CAST(array_position({_NAMES}, {header}) AS INT)"


def _start(key: SchemaKey) -> str:
    """Return the bytes, in hex, with which a frame of a schema starts."""
    return encode_frame(key, b"").hex()
