"""Changes of one table's rows, from Debezium's records: envelopes, or flattened rows.

| column       | what it holds                                                                   |
| ------------ | ------------------------------------------------------------------------------- |
| event        | struct: the row after the change; of a deletion, the row before it              |
| _op          | r (snapshot), c (insert), u (update), d (delete), t (truncate)                  |
| _lsn         | the place of the change in the database's log, or of the last commit before it  |
| _written     | struct of the place of that commit and its own, the order of all changes        |
| _changed_at  | when the database made the change                                               |
| _snapshot    | the place of a record in its snapshot: first, true, last, ...; null without one |

and `_topic`, `_kafka_partition`, `_offset`, `_kafka_timestamp` and `_is_keyless`. Both forms may be
in one batch: flattened versions follow envelopes when a connector gets its transform.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import md5
from typing import Final
from uuid import UUID

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from penstock.errors import JobError
from penstock.extensions.cdc.spark.exact import check_exact
from penstock.spark.columns import merge_columns
from penstock.spark.lake.conversion import convert, is_inexact, quote
from penstock.spark.rows import EVENT, event_type

_PREFIX: Final = "__"  # of the fields that a connector's `add.fields` adds
_NEEDED: Final = ("__op", "__lsn", "__source_ts_ms", "__deleted")
_FACTS: Final = ("db", "schema", "table", "lsn")
_ENVELOPE: Final = ("before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction")
_PLACE: Final = (
    *("_topic", "_kafka_partition", "_offset", "_kafka_timestamp"),
    "_key IS NULL AS _is_keyless",
)
_OF_FILES: Final = frozenset(("_offset", "_kafka_partition", "partition"))
_IS_ENVELOPE: Final = f"{EVENT}.source IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a part of a batch, and the type of the rows that change."""

    rows: DataFrame
    type: StructType


def read_changes(rows: DataFrame, topic: str, unavailable: str) -> Changes:
    """Return the changes that decoded records hold.

    `unavailable` is the text that stands for a value which the log does not have.

    Raises:
        JobError: the records are neither envelopes of Debezium nor flattened rows with the fields
            that say what changed, or one form has a double for a whole number of the other.
    """
    forms = _Forms(event_type(rows), unavailable)
    forms.check(topic)
    check_exact(rows, forms.find_inexact(), topic)
    chosen = {
        "_op": forms.choose("op", "__op"),
        **forms.find_places(),
        "_changed_at": f"TIMESTAMP_MILLIS({forms.choose('source.ts_ms', '__source_ts_ms')})",
        "_snapshot": f"NULLIF({forms.choose('source.snapshot', '__source_snapshot')}, 'false')",
    }
    type_ = forms.row_type()
    named = [f"{sql} AS {name}" for name, sql in chosen.items()]
    row = ", ".join(f"'{each.name}', {forms.value(each)}" for each in type_)
    return Changes(rows.selectExpr(f"NAMED_STRUCT({row}) AS {EVENT}", *named, *_PLACE), type_)


def read_records(rows: DataFrame) -> DataFrame:
    """Return decoded records as they are."""
    names = event_type(rows).names
    values = (f"{EVENT}.{quote(each)} AS {quote(_name_column(each))}" for each in names)
    return rows.selectExpr(*values, "_offset", "_kafka_partition")


def flatten_records(rows: DataFrame, unavailable: str) -> DataFrame:
    """Return the changes of rows as ExtractNewRecordState flattens them."""
    forms = _Forms(event_type(rows), unavailable)
    added = {
        "__op": forms.choose("op", "__op"),
        **{f"__{each}": forms.choose(f"source.{each}", f"__{each}") for each in _FACTS},
        "__source_ts_ms": forms.choose("source.ts_ms", "__source_ts_ms"),
        "__deleted": f"IF({forms.choose('op', '__op')} = 'd', 'true', 'false')",
    }
    values = (
        f"{forms.value(each)} AS {quote(_name_column(each.name))}" for each in forms.row_type()
    )
    named = (f"{sql} AS {name}" for name, sql in added.items())
    return rows.selectExpr(*values, *named, "_offset", "_kafka_partition").filter("__op <> 't'")


def _name_column(name: str) -> str:
    """Return the column of a field: those of files have names that a table may have too."""
    return f"event_{name}" if name.lower() in _OF_FILES else name


class _Forms:
    """The forms that records of one type may have, and the SQL that reads either."""

    def __init__(self, event: StructType, unavailable: str) -> None:
        self._event = event
        self._unavailable = unavailable
        self._has_envelopes = "lsn" in _inside(event, "source").names
        inside = _ENVELOPE if self._has_envelopes else ()
        self._flat = StructType(
            [
                each
                for each in event
                if not each.name.startswith(_PREFIX) and each.name not in inside
            ]
        )
        self._sides = {
            side: _inside(event, side) for side in ("before", "after") if self._has_envelopes
        }

    def check(self, topic: str) -> None:
        """Check that records say what changed.

        Raises:
            JobError: they do not.
        """
        missing = [each for each in _NEEDED if each not in self._event.names]
        if not self._has_envelopes and missing:
            raise JobError(
                f"found records of {topic} without {', '.join(missing)}, expected Debezium's"
                " envelopes, or ExtractNewRecordState with"
                " delete.tombstone.handling.mode=rewrite-with-tombstone and"
                " add.fields=op,lsn,source.ts_ms; see docs/cdc.md"
            )
        columns = {name for side in self._sides.values() for name in side.names}
        shared = ", ".join(each for each in _ENVELOPE if each in columns)
        if shared and not missing:
            raise JobError(
                f"found both envelopes and flattened records in {topic}, whose table has columns"
                f" that envelopes have too: {shared}; expected one form: flatten into new topics"
            )

    def row_type(self) -> StructType:
        """Return the type that holds the rows of all forms."""
        fields: dict[str, StructField] = {}
        for type_ in (*self._sides.values(), self._flat):
            for each in type_:
                known = fields.get(each.name)
                fields[each.name] = _widen(known, each) if known else each
        return StructType(list(fields.values()))

    def find_inexact(self) -> dict[str, str]:
        """Return SQL conditions, by field: the type of all forms would round a whole number."""
        types = {f"{EVENT}.{side}.": type_ for side, type_ in self._sides.items()}
        types[f"{EVENT}."] = self._flat
        found = {
            field.name: [
                is_inexact(f"{path}{quote(field.name)}", type_[field.name].dataType, field.dataType)
                for path, type_ in types.items()
                if field.name in type_.names
            ]
            for field in self.row_type()
        }
        return {name: " OR ".join(filter(None, each)) for name, each in found.items() if any(each)}

    def value(self, field: StructField) -> str:
        """Return the SQL of a field of the row after a change, or before a deletion."""
        before, after = (self._read_side(side, field) for side in ("before", "after"))
        flat = self._convert(self._flat, f"{EVENT}.", field)
        if not self._has_envelopes:
            return flat
        if lost := is_unavailable(after, field.dataType, self._unavailable):
            # With REPLICA IDENTITY FULL, the row before the change has the value.
            after = f"IF({lost} AND {before} IS NOT NULL, {before}, {after})"
        row = f"IF({EVENT}.op = 'd', {before}, {after})"
        return f"IF({_IS_ENVELOPE}, {row}, {flat})" if field.name in self._flat.names else row

    def choose(self, inside: str, flat: str) -> str:
        """Return the SQL of a fact about the change, which each form has in a place of its own."""
        of, _, name = inside.partition(".")
        flat = f"{EVENT}.{quote(flat)}" if flat in self._event.names else ""
        if not self._has_envelopes or (name and name not in _inside(self._event, of).names):
            return flat or "CAST(NULL AS STRING)"
        return f"IF({_IS_ENVELOPE}, {EVENT}.{inside}, {flat or f'{EVENT}.{inside}'})"

    def find_places(self) -> dict[str, str]:
        """Return the SQL of the place of a change.

        `source.sequence` has the place of the last commit before it. A row of an incremental
        snapshot has no other place.
        """
        lsn = f"CAST({self.choose('source.lsn', '__lsn')} AS BIGINT)"
        sequence = self.choose("source.sequence", "__source_sequence")
        commit = f"TRY_CAST(GET_JSON_OBJECT({sequence}, '$[0]') AS BIGINT)"
        return {
            "_lsn": f"GREATEST({commit}, {lsn})",
            "_written": f"NAMED_STRUCT('commit', COALESCE({commit}, {lsn}), 'own', {lsn})",
        }

    def _read_side(self, side: str, field: StructField) -> str:
        return self._convert(self._sides.get(side, StructType()), f"{EVENT}.{side}.", field)

    def _convert(self, type_: StructType, path: str, field: StructField) -> str:
        if field.name not in type_.names:
            return "NULL"
        found = type_[field.name].dataType
        return convert(f"{path}{quote(field.name)}", found, field.dataType)


def is_unavailable(value: str, type_: DataType, text: str) -> str:
    """Return the SQL condition that a value is the text for values that the log does not have.

    It is empty for a type whose values the log always has: they are too short to be kept apart.
    """
    item = f"'{text}'"
    match type_:
        case StringType():
            # An hstore is JSON.
            return f'COALESCE({value} IN ({item}, \'{{"{text}":"{text}"}}\'), FALSE)'
        case BinaryType():
            return f"({value} <=> CAST({item} AS BINARY))"
        case ArrayType(elementType=StringType()):
            return f"COALESCE({value} IN (ARRAY({item}), ARRAY('{_make_uuid(text)}')), FALSE)"
        case ArrayType(elementType=IntegerType() | LongType()):
            numbers = ", ".join(f"{each}" for each in text.encode())
            return f"(CAST({value} AS ARRAY<BIGINT>) <=> CAST(ARRAY({numbers}) AS ARRAY<BIGINT>))"
        case MapType(keyType=StringType(), valueType=StringType()):
            return f"(MAP_KEYS({value}) <=> ARRAY({item}))"
    return ""


def _make_uuid(text: str) -> UUID:
    """Return the item that stands for an array of UUIDs, as Java's `nameUUIDFromBytes` makes it."""
    return UUID(bytes=md5(text.encode(), usedforsecurity=False).digest(), version=3)


def _inside(event: StructType, name: str) -> StructType:
    type_ = event[name].dataType if name in event.names else None
    return type_ if isinstance(type_, StructType) else StructType()


def _widen(one: StructField, other: StructField) -> StructField:
    """Return the field with the type that holds the values of both."""
    if one.dataType == other.dataType:
        return one
    merged = merge_columns(
        StructType([StructField("value", one.dataType)]),
        StructType([StructField("value", other.dataType)]),
    )
    return StructField(one.name, merged["value"].dataType, True, one.metadata)
