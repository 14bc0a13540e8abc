"""The events of a table with columns of its own: chosen fields, and a constant column.

Columns are named here in SQL, and by `Projection.project` where rows are made of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from penstock.errors import SchemaConflictError
from penstock.records import Projection
from penstock.schemas import Schema, avro_name
from penstock.spark.columns import COMMENT
from penstock.tables import ColumnType, Map, Struct, mark_field, read_event


def _name_column(value: Column, name: str) -> Column:
    """Return the value as the field of an event with a name in JSON.

    Without a comment of its own, it would have that of the field that it is renamed from.
    """
    return value.alias(avro_name(name), metadata={COMMENT: mark_field(avro_name(name), name)})


def _find_empty(sql: str, type_: ColumnType) -> str:
    """Return the condition that a chosen field, perhaps of several types, holds nothing."""
    if type_ == "string":
        return f"coalesce({sql}, '') = ''"
    if isinstance(type_, Struct) and type_.is_union:
        members = [_find_empty(f"{sql}.`{each.name}`", each.type) for each in type_.columns]
        return " AND ".join(members)
    return _holds_nothing(sql, type_)


def _holds_nothing(sql: str, type_: ColumnType, depth: int = 0) -> str:
    """Return the condition that a value is null, or that records and maps in it hold nothing.

    A record has no value of its own: `Projection.project` sees one with null fields as `{}`.
    """
    match type_:
        case Struct():
            parts = [(f"{sql}.`{each.name}`", each.type) for each in type_.columns]
            return " AND ".join(_holds_nothing(*each, depth) for each in parts) or "TRUE"
        case Map():
            item = f"v{depth}"
            inside = f"{item} IS NOT NULL AND {_holds_nothing(item, type_.value, depth + 1)}"
            return f"coalesce(forall(map_values({sql}), {item} -> {inside}), TRUE)"
    return f"{sql} IS NULL"


@dataclass(frozen=True, slots=True)
class EventColumns:
    """The columns of events of a merged schema.

    Raises (when used):
        SchemaConflictError: two fields would be one column, one would be the constant column, or
            none of the chosen fields is there.
    """

    columns: Projection
    merged: Schema

    def check(self) -> None:
        """Check that the events have columns."""
        self._fields()

    def write_event(self, sql: str) -> Column:
        """Return an event, from the SQL of a record; a constant is a column of its name."""
        held = read_event(self.merged)
        values = {
            column: f"{sql}.`{field}`"
            for field, column in self._fields().items()
            if held.find(field)
        } | {each: f"`{each}`" for each in self._constants()}
        columns = [_name_column(F.expr(value), name) for name, value in values.items()]
        return F.when(F.expr(f"{sql} IS NOT NULL"), F.struct(*columns))

    def find_empty(self, sql: str) -> str:
        """Return the condition that all chosen fields are null, or empty strings, records or maps.

        It is empty if no fields are chosen, or if such records are rows too.
        """
        if not self.columns.fields or self.columns.keeps_empty:
            return ""
        held = read_event(self.merged)
        conditions = [
            _find_empty(f"{sql}.`{column.name}`", column.type)
            for field in self._fields()
            if (column := held.find(field))
        ]
        return " AND ".join(conditions or ["TRUE"])

    def _constants(self) -> list[str]:
        return [self.columns.constant] if self.columns.constant else []

    def _fields(self) -> dict[str, str]:
        """Return the names of columns by the names of fields in the schema."""
        merged: Any = self.merged
        names = {each.get("jsonName", each["name"]): each["name"] for each in merged["fields"]}
        columns = self.columns.columns(names)
        if self.columns.fields and not columns:
            raise SchemaConflictError(
                f"found the fields {', '.join(sorted(names))[:200]}, expected one of the chosen"
                f" {', '.join(self.columns.fields)}"
            )
        return {names[field]: column for field, column in columns.items()}
