"""The events of a table with columns of its own: chosen fields, and a constant column.

Columns are named here in SQL, and by `Projection.project` where rows are made of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.errors import SchemaConflictError
from penstock.records import Projection
from penstock.schemas import Schema, avro_name
from penstock.tables import read_event


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

    def write_event(self, sql: str) -> str:
        """Return the SQL of an event, from that of a record; a constant is a column of its name."""
        held = read_event(self.merged)
        values = {
            avro_name(column): f"{sql}.`{field}`"
            for field, column in self._fields().items()
            if held.find(field)
        } | {each: f"`{each}`" for each in self._constants()}
        inside = ", ".join(f"'{name}', {value}" for name, value in values.items())
        return f"IF({sql} IS NULL, NULL, named_struct({inside}))"

    def find_empty(self, sql: str) -> str:
        """Return the condition that all chosen fields are null or empty strings.

        It is empty if no fields are chosen, or if such records are rows too.
        """
        if not self.columns.fields or self.columns.keeps_empty:
            return ""
        held = read_event(self.merged)
        conditions = [
            f"coalesce({sql}.`{column.name}`, '') = ''"
            if column.type == "string"
            else f"{sql}.`{column.name}` IS NULL"
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
